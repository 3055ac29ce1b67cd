# Labels of what judges said: by rule, by a model, by people; and the sheets that people fill in.

LABELLED = [
    (experiment.name, model)
    for experiment in plan.experiments.values()
    if experiment.config.labelers
    for model in experiment.config.models
]
SHARDS = "results/transcripts/{experiment}/{model}/{shard}.parquet"


def annotation_files(wildcards):
    """What people have filled in so far."""
    return sorted(
        str(path)
        for path in Path("data/annotations").glob("*")
        if path.suffix in (".csv", ".json")
    )


def other_transcripts(wildcards):
    """The transcripts of the other labelled experiments, where there are annotations: a file may speak of them too."""
    if not annotation_files(wildcards):
        return []
    return [
        SHARDS.format(experiment=experiment, model=model, shard=shard)
        for experiment, model in LABELLED
        if (experiment, model) != (wildcards.experiment, wildcards.model)
        for shard in range(plan.config.shards)
    ]


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
    output:
        "results/deidentified/{dataset}.parquet",
    log:
        "results/logs/deidentified/{dataset}.log",
    params:
        depends_on=lambda wildcards: plan.dataset_digest(wildcards.dataset),
    script:
        "../scripts/deidentification.py"
