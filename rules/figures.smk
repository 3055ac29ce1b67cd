# Figures as PNG and SVG, one job for each study.

for part, names in targets.names_by_job(plan, FIGURES).items():
    studies = sorted({FIGURES[name].study for name in names})
    study = dependencies.presented_study(studies)
    modules = {FIGURES[name].build.__module__ for name in names}
    outputs = shown_outputs("figures", FIGURES, names, targets.figure_files, "svg")

    rule:
        name:
            f"figures_{part}"
        input:
            results=presented_results(study),
            scores=scores_of_study(study),
            baselines=baselines_of_study(study),
            published=user_file(PUBLISHED / "published_results.csv"),
            partial=newer_if_partial(f"figures_{part}", outputs),
        output:
            outputs,
        log:
            f"results/logs/figures/{part}.log",
        priority: AGGREGATION
        conda:
            "../envs/presentation.yaml"
        params:
            **digests(
                code=["figure.py", *RESULTS_CODE, *dependencies.builder_code(modules)],
                options=options_of_figures(study),
            ),
            part=part,
        script:
            "../scripts/figure.py"
