# Debates for the tools that other people use; off by default, one target a format (`export_convokit`), `export` for all.

for name in EXPORTERS:

    rule:
        name:
            f"convert_to_{name}"
        input:
            cases=argued_cases,
            predictions="results/predictions/{experiment}/{model}.parquet",
            calls="results/calls/{experiment}/{model}.parquet",
            shards=transcript_shards,
            scores="results/scores/{experiment}.parquet",
        output:
            (
                export_path(name)
                if EXPORTERS[name].ending
                else directory(export_path(name))
            ),
        log:
            f"results/logs/export/{name}/{{experiment}}/{{model}}.log",
        conda:
            "../envs/presentation.yaml"
        params:
            **digest_params("export", format=name),
        script:
            "../scripts/export.py"

    rule:
        name:
            f"export_{name}"
        input:
            exports(name),


rule export:
    input:
        [getattr(rules, f"export_{name}").input for name in EXPORTERS],
