# Figures, as PNG and SVG, one job for each module that draws some; and transcripts laid out for reading.


for builder, study, found in built_by_module(FIGURES, FIGURE_NAMES):

    rule:
        name:
            f"figures_{of_study(study, builder)}"
        input:
            **results_of_study(study),
        output:
            captions("figures", found),
            collect("results/figures/{figure}.png", figure=found),
            [
                report(
                    f"results/figures/{name}.svg",
                    caption=caption_of("figures", name),
                    category=study,
                    subcategory=f"Figures: {FIGURES[name].category.lower()}",
                    labels={"figure": FIGURES[name].name.replace("_", " ")},
                )
                for name in found
            ],
        log:
            f"results/logs/figures/{of_study(study, builder)}.log",
        conda:
            "../envs/presentation.yaml"
        params:
            **made_with("figure", study=study, builder=builder),
        script:
            "../scripts/figure.py"


rule figures:
    input:
        collect(
            "results/figures/{figure}.{ending}",
            figure=FIGURE_NAMES,
            ending=FIGURE_ENDINGS,
        ),


rule render_transcripts:
    input:
        cases=cases_of,
        predictions="results/predictions/{experiment}/{model}.parquet",
        shards=shards_of,
    output:
        "results/rendered/{experiment}/{model}.md",
    log:
        "results/logs/rendered/{experiment}/{model}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **made_with("render_transcripts"),
    script:
        "../scripts/transcript.py"


rule rendered:
    input:
        collect(
            "results/rendered/{experiment_model}.md",
            experiment_model=EXPERIMENT_MODELS,
        ),
