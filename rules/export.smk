# Exports of debates to other tools. They are not built by default. Each format has a target such as
# `export_croissant`; `export` builds all formats.

for name in EXPORTERS:
    exported = targets.export_path(name, "{experiment}/{model}")

    rule:
        name:
            f"convert_to_{name}"
        input:
            **inputs(
                f"convert_to_{name}",
                cases=cases_of_experiment,
                shards=shards_of_run,
                predictions="results/predictions/{experiment}/{model}.parquet",
                calls="results/calls/{experiment}/{model}.parquet",
                scores="results/scores/{experiment}.parquet",
            ),
        output:
            exported if EXPORTERS[name].ending else directory(exported),
        log:
            f"results/logs/export/{name}/{{experiment}}/{{model}}.log",
        conda:
            "../envs/presentation.yaml"
        params:
            **digests(
                f"convert_to_{name}",
                code=[
                    "export.py",
                    *RESULTS_CODE,
                    "jobs/run_exports.py",
                    *dependencies.turn_effect_code(),
                ],
                options=plan.config.publication.model_dump(),
            ),
            format=name,
        script:
            "../scripts/export.py"
