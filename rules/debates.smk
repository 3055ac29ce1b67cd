# Debate generation: one job an experiment, model and shard; inside it one event loop.


rule run_debates:
    input:
        unpack(needed_artifacts),
        cases=cases_of,
        answers=answers_of_people,
    output:
        "results/transcripts/{experiment}/{model}/{shard}.parquet",
    log:
        "results/logs/debates/{experiment}/{model}/{shard}.log",
    conda:
        "../envs/debates.yaml"
    threads:
        lambda wildcards: plan.threads(
            plan.models_in_job(wildcards.experiment, wildcards.model), workflow.cores
        )
    resources:
        **slots(plan.models_in_job),
    params:
        **made_with("run_debates"),
    script:
        "../scripts/debates.py"


rule predict:
    input:
        cases=cases_of,
        shards=shards_of,
    output:
        predictions="results/predictions/{experiment}/{model}.parquet",
        calls="results/calls/{experiment}/{model}.parquet",
    log:
        "results/logs/predictions/{experiment}/{model}.log",
    conda:
        "../envs/debates.yaml"
    params:
        **made_with("predict"),
    script:
        "../scripts/predictions.py"


rule preview:
    input:
        collect("results/cases/{dataset}.parquet", dataset=DATASETS),
    log:
        "results/logs/preview.log",
    conda:
        "../envs/debates.yaml"
    script:
        "../scripts/preview.py"


rule debates:
    input:
        collect(
            "results/predictions/{experiment_model}.parquet",
            experiment_model=EXPERIMENT_MODELS,
        ),
