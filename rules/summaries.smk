# Cases made by a model: full opinions summarised without their outcome, as the CaseLaw data set reads them.


rule write_summaries:
    input:
        collect(
            "results/transcripts/{{experiment}}/{{model}}/{shard}.parquet",
            shard=range(plan.config.shards),
        ),
    output:
        "results/summaries/{experiment}/{model}.jsonl",
    log:
        "results/logs/summaries/{experiment}/{model}.log",
    conda:
        "../envs/data.yaml"
    params:
        code=code_digest("moot.protocols.summaries"),
    script:
        "../scripts/summaries.py"
