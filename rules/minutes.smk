# Decision conferences for people: minutes, one Markdown document each.


rule write_minutes:
    input:
        inputs_of("write_minutes"),
    output:
        directory("results/minutes/{experiment}/{model}"),
    log:
        "results/logs/minutes/{experiment}/{model}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **digest_params("write_minutes"),
    script:
        "../scripts/minutes.py"
