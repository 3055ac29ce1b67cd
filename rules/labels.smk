# Labels of judges' statements by rules, models and people, and the sheets that people fill in.

from moot.workflow.user_files import SHEETS

LABELS = "results/labels/{experiment}/{model}.parquet"


rule label_statements:
    input:
        **inputs(
            "label_statements",
            cases=cases_of_experiment,
            shards=shards_of_run,
            others=annotated_shards,
            annotations=annotations_of_people,
        ),
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
            "label_statements",
            code=lambda wildcards: [
                *("labels.py", "core", "jobs/statement_labels.py", "labels", "stats", "studies"),
                *("llm", "!studies/*/data*.py", "!studies/*/protocol*.py"),
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
        # Snakemake runs no hook when it has nothing to do, so only a job can report faults again.
        # The present time makes this job run in every run until the annotations are corrected.
        faulty=time_if_faulty,
    script:
        "../scripts/labels.py"


rule write_annotation_sheet:
    input:
        **inputs(
            "write_annotation_sheet",
            cases=cases_of_experiment,
            shards=shards_of_run,
        ),
    output:
        "results/annotation_sheets/{experiment}/{model}.txt",
    log:
        "results/logs/annotation_sheets/{experiment}/{model}.log",
    conda:
        "../envs/debates.yaml"
    params:
        **digests(
            "write_annotation_sheet",
            code=[
                "annotation_sheets.py",
                "core",
                "jobs/label_sheets.py",
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
        **inputs("deidentification", local=local_files, generated=generated_files),
    output:
        "results/deidentified/{dataset}.csv",
    log:
        "results/logs/deidentified/{dataset}.log",
    conda:
        "../envs/debates.yaml"
    params:
        **digests(
            "deidentification",
            code=["deidentification.py", "core", "datasets", "studies/appellate"],
            options=lambda wildcards: dependencies.data_options(plan, wildcards.dataset),
        ),
    script:
        "../scripts/deidentification.py"
