# Data preparation: de-identified, narrativised, loaded cases.


# The output is a record: the data files themselves may be the user's, and Snakemake removes outputs before a job.
rule download:
    output:
        "results/downloads/{loader}.csv",
    log:
        "results/logs/downloads/{loader}.log",
    retries: 2
    conda:
        "../envs/data.yaml"
    params:
        **digest_params("download"),
    script:
        "../scripts/download.py"


rule load_cases:
    input:
        inputs_of("load_cases"),
    output:
        cases="results/cases/{dataset}.parquet",
        features="results/features/{dataset}.parquet",
        cleaning="results/cases/{dataset}_cleaning.csv",
    log:
        "results/logs/cases/{dataset}.log",
    priority: PREPARATION
    conda:
        "../envs/data.yaml"
    params:
        **digest_params("load_cases"),
    script:
        "../scripts/cases.py"


rule read_records:
    input:
        inputs_of("read_records"),
    output:
        "results/records/{dataset}.parquet",
    log:
        "results/logs/records/{dataset}.log",
    priority: PREPARATION
    conda:
        "../envs/data.yaml"
    params:
        **digest_params("read_records"),
    script:
        "../scripts/records.py"
