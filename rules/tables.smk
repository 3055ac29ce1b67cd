# Tables as CSV, Excel workbook, LaTeX and HTML, one job for each study. They compare published values
# with the run.

for part, names in targets.names_by_job(plan, TABLES).items():
    studies = sorted({TABLES[name].study for name in names})
    study = dependencies.presented_study(studies)
    modules = {TABLES[name].build.__module__ for name in names}
    outputs = shown_outputs("tables", TABLES, names, targets.table_files, "html")

    rule:
        name:
            f"tables_{part}"
        input:
            results=presented_results(study),
            scores=scores_of_study(study),
            baselines=baselines_of_study(study),
            published=user_file(PUBLISHED / "published_results.csv"),
            partial=newer_if_partial(f"tables_{part}", outputs),
            frozen=frozen_plans(studies),
        output:
            outputs,
        log:
            f"results/logs/tables/{part}.log",
        priority: AGGREGATION
        conda:
            "../envs/presentation.yaml"
        params:
            **digests(
                code=[
                    "table.py",
                    *RESULTS_CODE,
                    *dependencies.builder_code(modules),
                ],
                options=options_of_tables(study, studies),
            ),
            part=part,
        script:
            "../scripts/table.py"


# All tables of a run in one Excel workbook, on request.
rule workbook:
    input:
        tables=targets.tables_of_workbook(plan),
    output:
        targets.WORKBOOK,
    log:
        "results/logs/tables/workbook.log",
    priority: AGGREGATION
    conda:
        "../envs/presentation.yaml"
    params:
        **digests(
            code=["workbook.py", "core", "report/workbook.py", "report/escaping.py"],
        ),
    script:
        "../scripts/workbook.py"
