# Targets with a name: one for each stage. The target with a study's name is in the Snakefile.

LOGS = [f"results/export/inspect/{run}.eval" for run in targets.runs(plan)]

for name, files in {
    "cases": CASES,
    "baselines": [f"results/baselines/{name}.parquet" for name in plan.trained_datasets],
    "debates": targets.predictions(plan),
    "labels": targets.labels(plan),
    "annotation_sheets": [
        f"results/annotation_sheets/{run}.txt" for run in targets.labelled_runs(plan)
    ],
    "scores": [f"results/scores/{name}.parquet" for name in plan.experiments],
    "tables": targets.table_files(targets.nonempty_names(plan, TABLES)),
    "figures": targets.figure_files(targets.nonempty_names(plan, FIGURES)),
    "readers": targets.readers(plan),
    "outcomes": targets.outcomes(plan),
    "export_inspect": LOGS,
    "export": [*rules.export_tables.output, *(LOGS if has_inspect() else [])],
    "retry": page_files(INDEX),
}.items():

    rule:
        name:
            name
        input:
            files,
