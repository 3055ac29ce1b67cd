# Labels of what judges said: by rule, by a model, by people; and the sheets that people fill in.

LABELS = "results/labels/{experiment}/{model}.parquet"


rule label_statements:
    input:
        inputs_of("label_statements"),
    output:
        labels=LABELS,
        everything="results/annotations/{experiment}/{model}.parquet",
    log:
        "results/logs/labels/{experiment}/{model}.log",
    conda:
        "../envs/debates.yaml"
    threads: model_threads(plan.labelling_models)
    resources:
        **model_slots(plan.labelling_models),
    params:
        **digest_params("label_statements"),
        # The time, as long as annotations have faults: then no run ends without saying so again.
        faulty=lambda one: read_outcome((), targets.existing([LABELS.format(**one)])).annotation_faults and time.time(),
    script:
        "../scripts/labels.py"


rule write_annotation_sheet:
    input:
        inputs_of("write_annotation_sheet"),
    output:
        "results/annotation_sheets/{experiment}/{model}.txt",
    log:
        "results/logs/annotation_sheets/{experiment}/{model}.log",
    conda:
        "../envs/debates.yaml"
    params:
        **digest_params("write_annotation_sheet"),
        folder=str(SHEETS),
    script:
        "../scripts/annotation_sheets.py"


rule deidentification:
    input:
        inputs_of("deidentification"),
    output:
        "results/deidentified/{dataset}.parquet",
    log:
        "results/logs/deidentified/{dataset}.log",
    conda:
        "../envs/debates.yaml"
    params:
        **digest_params("deidentification"),
    script:
        "../scripts/deidentification.py"
