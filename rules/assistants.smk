# The reliability assistant of Debate-Feedback: debates on training cases, then a model of which opinions were right.


rule train_assistant:
    input:
        cases=cases_of,
        shards=collect(
            "results/transcripts/{{experiment}}/{{model}}/{shard}.parquet",
            shard=range(plan.config.shards),
        ),
    output:
        "results/assistants/{experiment}/{model}/{features}.skops",
    log:
        "results/logs/assistants/{experiment}/{model}/{features}.log",
    wildcard_constraints:
        features="tfidf|tfidf-crossed|embeddings",
    conda:
        "../envs/baselines.yaml"
    params:
        code=code_digest("moot.reliability"),
    script:
        "../scripts/assistant.py"
