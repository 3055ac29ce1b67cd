# Exports of debates to spreadsheets and to inspect_ai. They are not built by default. `export`
# builds the logs of inspect_ai only where that is installed.


rule export_tables:
    input:
        predictions=targets.predictions(plan),
        utterances=[
            file for run in targets.runs(plan) for file in targets.shards(plan, *run.split("/"))
        ],
        calls=[f"results/calls/{run}.parquet" for run in targets.runs(plan)],
    output:
        workbook="results/export/debates.xlsx",
        tables=expand("results/export/{name}.csv", name=["predictions", "utterances", "calls"]),
    log:
        "results/logs/export/tables.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **digests(
            code=["export_tables.py", *RESULTS_CODE, "jobs/exports.py"],
        ),
    script:
        "../scripts/export_tables.py"


INSPECT_LOG = "results/export/inspect/{experiment}/{model}.eval"


rule convert_to_inspect:
    input:
        cases=cases_of_experiment,
        shards=shards_of_run,
        predictions="results/predictions/{experiment}/{model}.parquet",
        calls="results/calls/{experiment}/{model}.parquet",
        scores="results/scores/{experiment}.parquet",
    output:
        INSPECT_LOG,
    log:
        "results/logs/export/inspect/{experiment}/{model}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **digests(
            code=[
                "export.py",
                *RESULTS_CODE,
                "jobs/exports.py",
                *dependencies.turn_effect_code(),
            ],
        ),
    script:
        "../scripts/export.py"
