# Debates: one job for each experiment, model and shard. A job runs one event loop.


rule run_debates:
    input:
        cases=cases_of_experiment,
        sources=source_artifacts,
        answers=answers_of_people,
    output:
        SHARDS,
    log:
        "results/logs/debates/{experiment}/{model}/{shard}.log",
    priority: debates_priority
    conda:
        "../envs/debates.yaml"
    threads: model_threads(plan.models_in_job)
    resources:
        **call_resources(plan.models_in_job),
    params:
        **digests(
            code=lambda wildcards: [
                "debates.py",
                *dependencies.debate_code(plan, wildcards.experiment, wildcards.model),
            ],
            options=lambda wildcards: dependencies.debate_options(
                plan, wildcards.experiment, wildcards.model
            ),
            prompts=lambda wildcards: dependencies.debate_prompts(plan, wildcards.experiment),
        ),
        resumed=lambda wildcards: times_resumed(
            plan,
            **dict(wildcards.items()),
            is_retry="retry" in sys.argv[1:],
        ),
    script:
        "../scripts/debates.py"


rule predict:
    input:
        cases=cases_of_experiment,
        shards=shards_of_run,
    output:
        predictions="results/predictions/{experiment}/{model}.parquet",
        calls="results/calls/{experiment}/{model}.parquet",
    log:
        "results/logs/predictions/{experiment}/{model}.log",
    priority: AGGREGATION
    conda:
        "../envs/debates.yaml"
    params:
        **digests(
            code=[
                *("predictions.py", "core", "jobs/predictions.py", "protocols"),
                *("llm/*.py", "llm/ledger", "llm/parsing", "stats"),
                *("scores/results.py", "scores/score.py"),
                *("scores/served.py", "scores/transcript_shards.py"),
            ],
        ),
    script:
        "../scripts/predictions.py"
