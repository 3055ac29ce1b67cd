# Minutes of decision conferences, one Markdown document each.


CONFERENCES = [
    f"{experiment.name}/{model}"
    for experiment in plan.experiments.values()
    if experiment.config.protocol == "conference"
    for model in experiment.config.models
]


rule write_minutes:
    input:
        cases=cases_of,
        predictions="results/predictions/{experiment}/{model}.parquet",
    output:
        directory("results/minutes/{experiment}/{model}"),
    log:
        "results/logs/minutes/{experiment}/{model}.log",
    params:
        shipped=str(SHIPPED),
        code=code_digest("moot.present.minutes"),
    script:
        "../scripts/minutes.py"


rule minutes:
    input:
        collect("results/minutes/{conference}", conference=CONFERENCES),
