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
