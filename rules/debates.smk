# Debates: one job for each experiment, model and shard. A job runs one event loop.

RECORDED_EXPERIMENTS = [
    name for name, entry in plan.experiments.items() if entry.config.protocol == RECORDED
]
OTHER_EXPERIMENTS = any_of(name for name in plan.experiments if name not in RECORDED_EXPERIMENTS)
PREDICTION_CODE = (
    *("core", "jobs/predictions.py", "protocols", "stats"),
    *("llm/*.py", "llm/ledger", "llm/parsing"),
    *("scores/results.py", "scores/score.py", "scores/served.py", "scores/transcript_shards.py"),
)


rule run_debates:
    input:
        cases=cases_of_experiment,
        sources=source_artifacts,
        answers=answers_of_people,
    output:
        SHARDS,
    log:
        "results/logs/debates/{experiment}/{model}/{shard}.log",
    wildcard_constraints:
        experiment=OTHER_EXPERIMENTS,
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
    wildcard_constraints:
        experiment=OTHER_EXPERIMENTS,
    priority: AGGREGATION
    conda:
        "../envs/debates.yaml"
    params:
        **digests(code=["predictions.py", *PREDICTION_CODE]),
    script:
        "../scripts/predictions.py"


# No model is asked here. One job reads the debates of all models, since its start takes longer.
for experiment in RECORDED_EXPERIMENTS:
    models = plan.experiments[experiment].config.models
    runs = [f"{experiment}/{model}" for model in models]

    rule:
        name:
            f"recorded_{experiment}"
        input:
            cases=f"results/cases/{plan.experiments[experiment].config.dataset}.parquet",
            records=f"results/records/{plan.experiments[experiment].config.dataset}.parquet",
        output:
            shards=[path for model in models for path in targets.shards(plan, experiment, model)],
            predictions=[f"results/predictions/{run}.parquet" for run in runs],
            calls=[f"results/calls/{run}.parquet" for run in runs],
        log:
            f"results/logs/debates/{experiment}.log",
        priority: RECORDS
        conda:
            "../envs/debates.yaml"
        params:
            **digests(
                code=[
                    "recorded.py",
                    *dependencies.debate_code(plan, experiment, models[0]),
                    *PREDICTION_CODE,
                ],
                options=[dependencies.debate_options(plan, experiment, model) for model in models],
            ),
            experiment=experiment,
        script:
            "../scripts/recorded.py"
