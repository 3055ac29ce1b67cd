# Decision conferences for people: pages of the report, and minutes, one Markdown document each.

CONFERENCES = [
    f"{experiment.name}/{model}"
    for experiment in plan.experiments.values()
    if experiment.config.protocol == "conference"
    for model in experiment.config.models
]


rule render_conferences:
    input:
        cases=cases_of,
        predictions="results/predictions/{experiment}/{model}.parquet",
        shards=shards_of,
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
        **made_with("render_conferences"),
    script:
        "../scripts/transcript.py"


rule write_minutes:
    input:
        cases=cases_of,
        predictions="results/predictions/{experiment}/{model}.parquet",
        shards=shards_of,
    output:
        directory("results/minutes/{experiment}/{model}"),
    log:
        "results/logs/minutes/{experiment}/{model}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **made_with("write_minutes"),
    script:
        "../scripts/minutes.py"


rule minutes:
    input:
        collect("results/minutes/{conference}", conference=CONFERENCES),
        collect("results/rendered/{conference}.html", conference=CONFERENCES),
