# Figures, as PNG and SVG, and transcripts laid out for reading.


rule figure:
    input:
        unpack(results_of_study),
        published=f"{SHIPPED}/data/published/published_results.csv",
    output:
        png="results/figures/{study}/{figure}.png",
        svg=report(
            "results/figures/{study}/{figure}.svg",
            caption="../docs/captions/figure.rst",
            category="{study}",
            subcategory=lambda wildcards: "Figures: {}".format(
                FIGURES[f"{wildcards.study}/{wildcards.figure}"].category.lower()
            ),
            labels=lambda wildcards: {"figure": wildcards.figure.replace("_", " ")},
        ),
    log:
        "results/logs/figures/{study}/{figure}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        as_published=as_published,
        caption=lambda wildcards: FIGURES[
            f"{wildcards.study}/{wildcards.figure}"
        ].caption,
        code=lambda wildcards: code_digest(
            "moot.present.style",
            FIGURES[f"{wildcards.study}/{wildcards.figure}"].build.__module__,
        ),
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
    output:
        "results/reading/{experiment}/{model}.md",
    log:
        "results/logs/reading/{experiment}/{model}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        code=code_digest("moot.present.transcripts"),
    script:
        "../scripts/transcript.py"


rule reading:
    input:
        collect(
            "results/reading/{experiment_model}.md", experiment_model=EXPERIMENT_MODELS
        ),
