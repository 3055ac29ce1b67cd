# Labels of judges' statements by rules, models and people, and the sheets that people fill in.

from moot.workflow.user_files import SHEETS

LABELS = "results/labels/{experiment}/{model}.parquet"


rule label_statements:
    input:
        cases=cases_of_experiment,
        shards=shards_of_run,
        others=annotated_shards,
        annotations=annotations_of_people,
    output:
        labels=LABELS,
        everything="results/annotations/{experiment}/{model}.parquet",
    log:
        "results/logs/labels/{experiment}/{model}.log",
    conda:
        "../envs/debates.yaml"
    threads: model_threads(plan.labelling_models)
    resources:
        **call_resources(plan.labelling_models),
    params:
        **digests(
            code=lambda wildcards: [
                *("labels.py", "core", "jobs/statement_labels.py", "labels", "stats", "studies"),
                *("datasets/reading", "llm", "!studies/*/data*.py", "!studies/*/protocol*.py"),
                *(
                    "!studies/*/figures*.py",
                    "!studies/*/papers*.py",
                    "!studies/*/scores*.py",
                    "!studies/*/tables*.py",
                ),
                *dependencies.label_code(plan, wildcards.experiment, wildcards.model),
            ],
            options=lambda wildcards: dependencies.label_options(
                plan, wildcards.experiment, wildcards.model
            ),
            prompts=lambda wildcards: dependencies.label_prompts(
                plan, wildcards.experiment, wildcards.model
            ),
        ),
    script:
        "../scripts/labels.py"


rule write_annotation_sheet:
    input:
        cases=cases_of_experiment,
        shards=shards_of_run,
    output:
        "results/annotation_sheets/{experiment}/{model}.txt",
    log:
        "results/logs/annotation_sheets/{experiment}/{model}.log",
    conda:
        "../envs/debates.yaml"
    params:
        **digests(
            code=[
                "annotation_sheets.py",
                "core",
                "datasets/reading",
                "jobs/statement_labels.py",
                "labels",
                "llm",
            ],
            options=lambda wildcards: dependencies.sheet_options(plan, wildcards.experiment),
        ),
        folder=str(SHEETS),
    script:
        "../scripts/annotation_sheets.py"


rule deidentification:
    input:
        local=local_files,
        generated=generated_files,
    output:
        "results/deidentified/{dataset}.csv",
    log:
        "results/logs/deidentified/{dataset}.log",
    conda:
        "../envs/debates.yaml"
    params:
        **digests(
            code=["deidentification.py", "core", "datasets", "studies/appellate"],
            options=lambda wildcards: dependencies.data_options(plan, wildcards.dataset),
        ),
    script:
        "../scripts/deidentification.py"
