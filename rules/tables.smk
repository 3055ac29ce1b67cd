# Tables: published, ours, and the difference; as CSV, Excel workbook, LaTeX and HTML. One job for each module that builds some.


for builder, study, found in group_by_module(TABLES, TABLE_NAMES):

    rule:
        name:
            f"tables_{job_name(study, builder)}"
        input:
            **study_inputs(study),
        output:
            table_outputs(study, found),
        log:
            f"results/logs/tables/{job_name(study, builder)}.log",
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
