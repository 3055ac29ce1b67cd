# Tables: published, ours, and the difference; as CSV, Excel workbook, LaTeX and HTML. One job for each module that builds some.


for builder, study, found in built_by_module(TABLES, TABLE_NAMES):

    rule:
        name:
            f"tables_{of_study(study, builder)}"
        input:
            **results_of_study(study),
        output:
            captions("tables", found),
            collect(
                "results/tables/{table}.{ending}",
                table=found,
                ending=["csv", "xlsx", "tex"],
            ),
            [
                report(
                    f"results/tables/{name}.html",
                    caption=caption_of("tables", name),
                    category=study,
                    subcategory="Tables",
                    labels={"table": TABLES[name].title},
                )
                for name in found
            ],
        log:
            f"results/logs/tables/{of_study(study, builder)}.log",
        conda:
            "../envs/presentation.yaml"
        params:
            **made_with("table", study=study, builder=builder),
        script:
            "../scripts/table.py"


rule tables:
    input:
        collect(
            "results/tables/{table}.{ending}", table=TABLE_NAMES, ending=TABLE_ENDINGS
        ),
