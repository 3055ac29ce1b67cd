# Labels of what judges said: by rule, by a model, by people; and the sheets that people fill in.


rule label_statements:
    input:
        cases=cases_of,
        shards=collect(
            "results/transcripts/{{experiment}}/{{model}}/{shard}.parquet",
            shard=range(plan.config.shards),
        ),
        others=other_transcripts,
        annotations=annotation_files,
    output:
        labels="results/labels/{experiment}/{model}.parquet",
        everything="results/annotations/{experiment}/{model}.parquet",
    log:
        "results/logs/labels/{experiment}/{model}.log",
    conda:
        "../envs/debates.yaml"
    threads: workflow.cores
    params:
        labelers=lambda wildcards: list(
            plan.experiments[wildcards.experiment].config.labelers
        ),
        order=list(plan.config.annotations),
        code=code_digest("moot.labels.labelling", "moot.labels.judge"),
        prompts=plan.prompts.digest("panel/label"),
    script:
        "../scripts/labels.py"


rule labels:
    input:
        [
            f"results/labels/{experiment}/{model}.parquet"
            for experiment, model in LABELLED
        ],


rule write_annotation_sheet:
    input:
        cases=cases_of,
        shards=collect(
            "results/transcripts/{{experiment}}/{{model}}/{shard}.parquet",
            shard=range(plan.config.shards),
        ),
    output:
        "results/annotation_sheets/{experiment}/{model}.txt",
    log:
        "results/logs/annotation_sheets/{experiment}/{model}.log",
    conda:
        "../envs/debates.yaml"
    params:
        folder="data/annotation_sheets",
    script:
        "../scripts/annotation_sheets.py"


rule annotation_sheets:
    input:
        [
            f"results/annotation_sheets/{experiment}/{model}.txt"
            for experiment, model in LABELLED
        ],


rule deidentification:
    input:
        local_files,
    output:
        "results/deidentified/{dataset}.parquet",
    log:
        "results/logs/deidentified/{dataset}.log",
    conda:
        "../envs/debates.yaml"
    params:
        depends_on=lambda wildcards: plan.dataset_digest(wildcards.dataset),
    script:
        "../scripts/deidentification.py"
