# Figures, as PNG and SVG, one job for each module that draws some; and transcripts laid out for reading.


for rule_name, builder, study, found in group_by_module(FIGURES):

    rule:
        name:
            f"figures_{rule_name}"
        input:
            **study_inputs(study),
        output:
            figure_outputs(study, found),
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
        collect(
            "results/figures/{figure}.{ending}",
            figure=FIGURE_NAMES,
            ending=[*FIGURE_ENDINGS, "svg"],
        ),


rule render_transcripts:
    input:
        cases=argued_cases,
        predictions="results/predictions/{experiment}/{model}.parquet",
        shards=transcript_shards,
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
        collect(
            "results/rendered/{experiment_model}.md",
            experiment_model=list_worded(),
        ),
