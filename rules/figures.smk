# Figures, as PNG and SVG, one job for each module that draws some; and transcripts laid out for reading.


for rule_name, builder, study, found in targets.by_module(plan, FIGURES):

    rule:
        name:
            f"figures_{rule_name}"
        input:
            inputs_of("figure", study=study, builder=builder),
        output:
            shown_outputs("figures", study, FIGURES, found, targets.figure_files, "svg"),
        log:
            f"results/logs/figures/{rule_name}.log",
        priority: AGGREGATION
        conda:
            "../envs/presentation.yaml"
        params:
            **digest_params("figure", study=study, builder=builder),
        script:
            "../scripts/figure.py"


rule figures:
    input:
        targets.figure_files(targets.filled(plan, FIGURES)),


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


rule rendered:
    input:
        targets.rendered(plan),
