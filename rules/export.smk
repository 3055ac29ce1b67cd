# Exports of debates to spreadsheets and other tools. They are not built by default. Each format has
# a target such as `export_inspect`; `export` builds the tables and the formats that are installed.


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
            code=["export_tables.py", *RESULTS_CODE, "jobs/exported_tables.py"],
        ),
    script:
        "../scripts/export_tables.py"


for name in EXPORTERS:
    exported = targets.export_path(name, "{experiment}/{model}")

    rule:
        name:
            f"convert_to_{name}"
        input:
            cases=cases_of_experiment,
            shards=shards_of_run,
            predictions="results/predictions/{experiment}/{model}.parquet",
            calls="results/calls/{experiment}/{model}.parquet",
            scores="results/scores/{experiment}.parquet",
        output:
            exported if EXPORTERS[name].ending else directory(exported),
        log:
            f"results/logs/export/{name}/{{experiment}}/{{model}}.log",
        conda:
            "../envs/presentation.yaml"
        params:
            **digests(
                code=[
                    "export.py",
                    *RESULTS_CODE,
                    "jobs/run_exports.py",
                    *dependencies.turn_effect_code(),
                ],
            ),
            format=name,
        script:
            "../scripts/export.py"
