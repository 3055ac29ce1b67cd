# The minutes of decision conferences, one Markdown document for each conference.


rule write_minutes:
    input:
        **inputs(
            "write_minutes",
            cases=cases_of_experiment,
            shards=shards_of_run,
            predictions="results/predictions/{experiment}/{model}.parquet",
        ),
    output:
        directory("results/minutes/{experiment}/{model}"),
    log:
        "results/logs/minutes/{experiment}/{model}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **digests(
            "write_minutes", code=["minutes.py", *RESULTS_CODE, "datasets", "studies/conference"]
        ),
    script:
        "../scripts/minutes.py"
