# Debates for the tools that other people use; off by default, one target a format (`export_croissant`), `export` for all.

for name in EXPORTERS:
    exported = targets.export_path(name, "{experiment}/{model}")

    rule:
        name:
            f"convert_to_{name}"
        input:
            inputs_of("export", format=name),
        output:
            exported if EXPORTERS[name].ending else directory(exported),
        log:
            f"results/logs/export/{name}/{{experiment}}/{{model}}.log",
        conda:
            "../envs/presentation.yaml"
        params:
            **digest_params("export", format=name),
        script:
            "../scripts/export.py"
