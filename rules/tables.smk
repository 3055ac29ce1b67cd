# Tables: published, ours, and the difference; as CSV, Excel workbook, LaTeX and HTML. One job for each module that builds some.


for rule_name, builder, study, found in targets.by_module(plan, TABLES):

    rule:
        name:
            f"tables_{rule_name}"
        input:
            inputs_of("table", study=study, builder=builder),
        output:
            shown_outputs("tables", study, TABLES, found, targets.table_files, "html"),
        log:
            f"results/logs/tables/{rule_name}.log",
        priority: AGGREGATION
        conda:
            "../envs/presentation.yaml"
        params:
            **digest_params("table", study=study, builder=builder),
        script:
            "../scripts/table.py"


rule tables:
    input:
        targets.table_files(targets.filled(plan, TABLES)),
