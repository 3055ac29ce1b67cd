# Tables: published, ours, and the difference; as CSV, Excel workbook, LaTeX and HTML. One job a study.


for part, names in targets.by_job(plan, TABLES).items():
    outputs = shown_outputs("tables", TABLES, names, targets.table_files, "html")

    rule:
        name:
            f"tables_{part}"
        input:
            inputs_of("table", part=part),
            partial=newer_if_partial(f"tables_{part}", outputs),
        output:
            outputs,
        log:
            f"results/logs/tables/{part}.log",
        priority: AGGREGATION
        conda:
            "../envs/presentation.yaml"
        params:
            **digest_params("table", part=part),
        script:
            "../scripts/table.py"
