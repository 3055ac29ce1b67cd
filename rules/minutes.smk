# Decision conferences for people: minutes, one Markdown document each.


rule write_minutes:
    input:
        cases=argued_cases,
        predictions="results/predictions/{experiment}/{model}.parquet",
        shards=transcript_shards,
    output:
        directory("results/minutes/{experiment}/{model}"),
    log:
        "results/logs/minutes/{experiment}/{model}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **digest_params("write_minutes"),
    script:
        "../scripts/minutes.py"


rule minutes:
    input:
        collect("results/minutes/{conference}", conference=CONFERENCES),
