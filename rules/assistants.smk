# The reliability assistant of Debate-Feedback: debates on training cases, then a model of which opinions were right.


rule train_assistant:
    input:
        cases=cases_of,
        shards=shards_of,
    output:
        "results/assistants/{experiment}/{model}/{features}.skops",
    log:
        "results/logs/assistants/{experiment}/{model}/{features}.log",
    wildcard_constraints:
        features="tfidf|tfidf-crossed|embeddings",
    conda:
        "../envs/baselines.yaml"
    params:
        **made_with("train_assistant"),
    script:
        "../scripts/assistant.py"
