# Debate generation: one job an experiment, model and shard; inside it one event loop.


rule run_debates:
    input:
        inputs_of("run_debates"),
    output:
        SHARDS,
    log:
        "results/logs/debates/{experiment}/{model}/{shard}.log",
    priority: debates_priority
    conda:
        "../envs/debates.yaml"
    threads: model_threads(plan.models_in_job)
    resources:
        **model_slots(plan.models_in_job),
    params:
        **digest_params("run_debates"),
        resumed=lambda wildcards: resumed(plan, **dict(wildcards.items())),
    script:
        "../scripts/debates.py"


rule predict:
    input:
        inputs_of("predict"),
    output:
        predictions="results/predictions/{experiment}/{model}.parquet",
        calls="results/calls/{experiment}/{model}.parquet",
    log:
        "results/logs/predictions/{experiment}/{model}.log",
    priority: AGGREGATION
    conda:
        "../envs/debates.yaml"
    params:
        **digest_params("predict"),
    script:
        "../scripts/predictions.py"


rule preview:
    input:
        CASES,
    log:
        "results/logs/preview.log",
    conda:
        "../envs/debates.yaml"
    script:
        "../scripts/preview.py"


# Asks a sample of the recorded calls again; builds no debate.
rule drift:
    log:
        "results/logs/drift.log",
    conda:
        "../envs/debates.yaml"
    script:
        "../scripts/drift.py"


# Writes the plan down before the run, in data/frozen/, where earlier ones stay.
rule freeze:
    input:
        CASES,
    log:
        "results/logs/freeze.log",
    conda:
        "../envs/debates.yaml"
    script:
        "../scripts/freeze.py"


# Reads the predictions of a pilot or a rehearsal as far as they are there; holds no debates.
rule power:
    input:
        CASES,
    log:
        "results/logs/power.log",
    conda:
        "../envs/presentation.yaml"
    script:
        "../scripts/power.py"


rule debates:
    input:
        targets.predictions(plan),
