# What a configuration may name: moot's own, and what the configuration's extensions register.


rule reference:
    output:
        "results/reference.md",
    log:
        "results/logs/reference.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **digest_params("reference"),
    script:
        "../scripts/reference.py"
