# Data preparation: de-identified, narrativised, loaded cases.

from moot.core.artifacts import file_digest


# The output is a record, not the data files. Snakemake removes the outputs of a job before it
# starts, and the data files may belong to the user.
rule download:
    output:
        "results/downloads/{loader}.csv",
    log:
        "results/logs/downloads/{loader}.log",
    retries: 2
    conda:
        "../envs/data.yaml"
    params:
        **digests(
            code=["download.py", "core", "datasets/download.py", "datasets/reading"],
            options=[file_digest(plan.shipped / "data" / "versions.csv"), plan.config.data_root],
        ),
    script:
        "../scripts/download.py"


rule load_cases:
    input:
        download=download_record,
        local=local_files,
        generated=generated_files,
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
        **digests(
            code=lambda wildcards: [
                *("cases.py", "core", "datasets", "jobs/load.py"),
                *dependencies.loader_code(plan, wildcards.dataset),
            ],
            options=lambda wildcards: dependencies.data_options(plan, wildcards.dataset),
        ),
    script:
        "../scripts/cases.py"


rule read_records:
    input:
        download=download_record,
        local=local_files,
        cases="results/cases/{dataset}.parquet",
    output:
        "results/records/{dataset}.parquet",
    log:
        "results/logs/records/{dataset}.log",
    priority: PREPARATION
    conda:
        "../envs/data.yaml"
    params:
        **digests(
            code=lambda wildcards: [
                *("records.py", "core", "datasets"),
                *dependencies.loader_code(plan, wildcards.dataset),
            ],
        ),
    script:
        "../scripts/records.py"
