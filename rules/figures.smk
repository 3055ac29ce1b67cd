# Figures, as PNG and SVG, one job a study; and transcripts laid out for reading.


for part, names in targets.by_job(plan, FIGURES).items():
    outputs = shown_outputs("figures", FIGURES, names, targets.figure_files, "svg")

    rule:
        name:
            f"figures_{part}"
        input:
            inputs_of("figure", part=part),
            partial=newer_if_partial(f"figures_{part}", outputs),
        output:
            outputs,
        log:
            f"results/logs/figures/{part}.log",
        priority: AGGREGATION
        conda:
            "../envs/presentation.yaml"
        params:
            **digest_params("figure", part=part),
        script:
            "../scripts/figure.py"


rule render_transcripts:
    input:
        inputs_of("render_transcripts"),
    output:
        "results/rendered/{experiment}/{model}.md",
    log:
        "results/logs/rendered/{experiment}/{model}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **digest_params("render_transcripts"),
    script:
        "../scripts/transcript.py"
