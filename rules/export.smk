# Debates for the tools that other people use; off by default, one target a format (`export_convokit`), `export` for all.

for name in EXPORTERS:

    rule:
        name:
            f"convert_to_{name}"
        input:
            inputs_of("export", format=name),
        output:
            export_output(name),
        log:
            f"results/logs/export/{name}/{{experiment}}/{{model}}.log",
        conda:
            "../envs/presentation.yaml"
        params:
            **digest_params("export", format=name),
        script:
            "../scripts/export.py"
