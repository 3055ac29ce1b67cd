# Data preparation: de-identified, narrativised, loaded cases.


# The output is a record: the data files themselves may be the user's, and Snakemake removes outputs before a job.
rule download:
    output:
        "results/downloads/{loader}.csv",
    log:
        "results/logs/downloads/{loader}.log",
    conda:
        "../envs/data.yaml"
    params:
        **digest_params("download"),
    script:
        "../scripts/download.py"


rule load_cases:
    input:
        download_record,
        model_made_files,
        local_files,
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
        download_record,
        local_files,
        cases="results/cases/{dataset}.parquet",
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


rule cases:
    input:
        collect("results/cases/{dataset}.parquet", dataset=DATASETS),
