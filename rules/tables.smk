# Tables: published, ours, and the difference; as CSV, LaTeX and HTML.


rule table:
    input:
        unpack(results_of_study),
        published=f"{SHIPPED}/data/published/published_results.csv",
    output:
        csv="results/tables/{study}/{table}.csv",
        tex="results/tables/{study}/{table}.tex",
        html=report(
            "results/tables/{study}/{table}.html",
            caption="../docs/captions/table.rst",
            category="{study}",
            subcategory="Tables",
            labels=lambda wildcards: {
                "table": TABLES[f"{wildcards.study}/{wildcards.table}"].title
            },
        ),
    log:
        "results/logs/tables/{study}/{table}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        as_published=as_published,
        caption=lambda wildcards: TABLES[f"{wildcards.study}/{wildcards.table}"].caption,
        code=lambda wildcards: code_digest(
            "moot.present.formats",
            TABLES[f"{wildcards.study}/{wildcards.table}"].build.__module__,
        ),
    script:
        "../scripts/table.py"


rule tables:
    input:
        collect(
            "results/tables/{table}.{ending}", table=TABLE_NAMES, ending=TABLE_ENDINGS
        ),
