# Decision conferences for people: pages of the report, and minutes, one Markdown document each.


rule render_conferences:
    input:
        cases=argued_cases,
        predictions="results/predictions/{experiment}/{model}.parquet",
        shards=transcript_shards,
    output:
        report(
            "results/rendered/{experiment}/{model}.html",
            caption="../docs/captions/conferences.rst",
            category="conference",
            subcategory="Transcripts",
            labels={"experiment": "{experiment}", "model": "{model}"},
        ),
    log:
        "results/logs/conferences/{experiment}/{model}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **digest_params("render_conferences"),
    script:
        "../scripts/transcript.py"


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
        collect("results/rendered/{conference}.html", conference=CONFERENCES),
