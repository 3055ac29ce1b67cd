# Tables: published, ours, and the difference; as CSV, Excel workbook, LaTeX and HTML. One job for each module that builds some.


for rule_name, builder, study, found in group_by_module(TABLES):

    rule:
        name:
            f"tables_{rule_name}"
        input:
            **study_inputs(study),
            **frozen_plan(builder),
        output:
            table_outputs(study, found),
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
        collect(
            "results/tables/{table}.{ending}",
            table=TABLE_NAMES,
            ending=[*TABLE_ENDINGS, "html"],
        ),
