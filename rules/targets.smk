# Targets with a name: one for each stage, and one for each export format. The target with a study's
# name is in the Snakefile.

EXPORTS = {f"export_{name}": targets.exports(plan, name) for name in EXPORTERS}

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
    **EXPORTS,
    "export": [
        *rules.export_tables.output,
        *(EXPORTS[f"export_{name}"] for name in EXPORTERS if not EXPORTERS[name].missing_package()),
    ],
    "retry": page_files(INDEX),
}.items():

    rule:
        name:
            name
        input:
            files,
