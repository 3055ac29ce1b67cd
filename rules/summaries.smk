# Cases that a model writes: summaries of full opinions without their outcome, which the data set
# `caselaw` reads.


rule write_summaries:
    input:
        shards=shards_of_run,
    output:
        "results/summaries/{experiment}/{model}.jsonl",
    log:
        "results/logs/summaries/{experiment}/{model}.log",
    conda:
        "../envs/data.yaml"
    params:
        **digests(
            code=[
                "summaries.py",
                "core",
                "datasets/opinion_text.py",
                "llm",
                "protocols",
                "studies/feedback/protocol_summaries.py",
            ],
        ),
    script:
        "../scripts/summaries.py"
