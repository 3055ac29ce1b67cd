# Aggregation: what an experiment's predictions, transcripts and labels add up to.


rule score:
    input:
        inputs_of("score"),
    output:
        "results/scores/{experiment}.parquet",
    log:
        "results/logs/scores/{experiment}.log",
    priority: AGGREGATION
    conda:
        "../envs/presentation.yaml"
    params:
        **digest_params("score"),
    script:
        "../scripts/scores.py"
