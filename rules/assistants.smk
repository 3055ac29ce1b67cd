# The reliability assistant of Debate-Feedback: debates on training cases, then a model of which opinions were right.


rule train_assistant:
    input:
        inputs_of("train_assistant"),
    output:
        "results/assistants/{experiment}/{model}/{features}.skops",
    log:
        "results/logs/assistants/{experiment}/{model}/{features}.log",
    wildcard_constraints:
        features="tfidf|tfidf-crossed|embeddings",
    conda:
        "../envs/baselines.yaml"
    params:
        **digest_params("train_assistant"),
    script:
        "../scripts/assistant.py"
