# The reliability assistant of Debate-Feedback, trained on debates over training cases. It predicts which
# opinions are right.


rule train_assistant:
    input:
        cases=cases_of_experiment,
        shards=shards_of_run,
    output:
        "results/assistants/{experiment}/{model}/{features}.skops",
    log:
        "results/logs/assistants/{experiment}/{model}/{features}.log",
    wildcard_constraints:
        features="[^/]+",
    conda:
        "../envs/baselines.yaml"
    params:
        **digests(
            code=["assistant.py", "core", "datasets", "studies/feedback", "training"],
            options=lambda wildcards: [wildcards.features, plan.config.seed],
        ),
    script:
        "../scripts/assistant.py"
