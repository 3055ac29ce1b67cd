"""The files in `results/` that a run builds for a study or for all studies."""

from collections.abc import Iterable
from functools import cache
from itertools import product
from pathlib import Path

from moot.core.experiment_config import COMPARISON, RECORDED
from moot.core.registry import Registry
from moot.papers.items import items_file, read_papers
from moot.papers.page import paper_files
from moot.plan.papers_of_run import papers_of_run
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from moot.report.content import Figure, Table
from moot.workflow.resumed_debates import SHARDS

INDEX = "index"
"""The front page of a run."""
TABLE_ENDINGS, FIGURE_ENDINGS = ("csv", "tex", "html"), ("png", "svg")
WORKBOOK = "results/tables.xlsx"
OUTCOME_ENDINGS = ("csv", "html")


def studies() -> list[str]:
    """Return the studies that have tables."""
    return sorted({TABLES[name].study for name in TABLES})


def runs(plan: Plan, study: str = "", protocol: str = "", *, has_text: bool = False) -> list[str]:
    """Return the runs (`EXPERIMENT/MODEL`) of a plan.

    Args:
        plan: The plan.
        study: The study of the runs. Default: any.
        protocol: The protocol of the runs. Default: any.
        has_text: Whether to leave out runs over shipped records, which have numbers but no texts.
    """
    names: list[str] = []
    for experiment in plan.experiments.values():
        config = experiment.config
        if study not in ("", experiment.study) or protocol not in ("", config.protocol):
            continue
        # Only some loaders have the option `source`.
        if has_text and str(plan.datasets[config.dataset].source) == "shipped":
            continue
        names += [f"{experiment.name}/{model}" for model in config.models]
    return names


def presented_runs(plan: Plan, study: str) -> list[str]:
    """Return the runs (`EXPERIMENT/MODEL`) that a study's tables and figures present."""
    experiments = (*plan.experiments_of(study), *plan.trials_of(study), *plan.controls_of(study))
    names: set[str] = set()
    for experiment in experiments:
        names.update(f"{experiment.name}/{model}" for model in experiment.config.models)
    return sorted(names)


def labelled_runs(plan: Plan, study: str = "") -> list[str]:
    """Return the runs of a study, or of all, whose statements are labelled."""
    return [
        run for run in runs(plan, study) if plan.experiments[run.partition("/")[0]].config.labelers
    ]


def predictions(plan: Plan, study: str = "") -> list[str]:
    """Return the files of predictions of a study's experiments, or of all."""
    return [f"results/predictions/{run}.parquet" for run in runs(plan, study)]


def labels(plan: Plan, study: str = "") -> list[str]:
    """Return the files of labels of a study's experiments, or of all."""
    return [f"results/labels/{run}.parquet" for run in labelled_runs(plan, study)]


def shards(plan: Plan, experiment: str, model: str) -> list[str]:
    """Return the files of transcripts of one experiment and model."""
    return [
        SHARDS.format(experiment=experiment, model=model, shard=shard)
        for shard in range(plan.config.shards)
    ]


def nonempty_names(
    plan: Plan, registry: Registry[Table] | Registry[Figure], study: str = ""
) -> list[str]:
    """Return the tables or figures of a study, or of all, for which this run has data."""
    entries = {name: registry[name] for name in registry}
    return [
        name
        for name, entry in entries.items()
        if study in ("", entry.study)
        and plan.can_fill(entry)
        and not _stands_twice(plan, registry, entry)
    ]


def _stands_twice(
    plan: Plan, registry: Registry[Table] | Registry[Figure], entry: Table | Figure
) -> bool:
    """Return whether an output of the comparison has the values of the run's only study."""
    names = [study for study in plan.studies if study != COMPARISON]
    has_twin = len(names) == 1 and f"{names[0]}/{entry.name}" in registry
    return entry.study == COMPARISON and has_twin


@cache
def names_by_job(plan: Plan, registry: Registry[Table] | Registry[Figure]) -> dict[str, list[str]]:
    """Return the tables or figures that each job builds.

    A job builds the outputs of one study, and in a run of one study also of the comparison. Outputs
    without data in this run, or with the values of others, are left to a further job, which runs
    only on request.
    """
    names = [study for study in plan.studies if study != COMPARISON]
    jobs = {study: study for study in plan.studies} | (
        {COMPARISON: names[0]} if len(names) == 1 else {}
    )
    built: dict[str, list[str]] = {}
    for name in registry:
        entry = registry[name]
        if entry.study in jobs:
            is_built = plan.can_fill(entry) and not _stands_twice(plan, registry, entry)
            job = jobs[entry.study] + ("" if is_built else "_on_request")
            built.setdefault(job, []).append(name)
    return built


def table_files(names: list[str]) -> list[str]:
    """Return the files of some tables."""
    return [f"results/tables/{name}.{ending}" for name, ending in product(names, TABLE_ENDINGS)]


def tables_of_workbook(plan: Plan) -> list[str]:
    """Return the CSV files of all tables of a run, of its papers too."""
    names = nonempty_names(plan, TABLES)
    files = [f"results/tables/{name}.csv" for name in names]
    return [*files, *(path for path in papers(plan) if path.endswith(".csv"))]


def figure_files(names: list[str]) -> list[str]:
    """Return the files of some figures."""
    return [f"results/figures/{name}.{ending}" for name, ending in product(names, FIGURE_ENDINGS)]


def readers(plan: Plan, study: str = "") -> list[str]:
    """Return the reader's page of a study that has debates, or the pages of all."""
    return [f"results/reader/{name}.html" for name in debated_studies(plan) if study in ("", name)]


def debated_studies(plan: Plan) -> list[str]:
    """Return the studies that have experiments."""
    return sorted({experiment.study for experiment in plan.experiments.values()})


def outcomes(plan: Plan, study: str = "") -> list[str]:
    """Return the pages on the outcome of the debates of a study, or of each study.

    The front page of a run includes the outcome of all.
    """
    names = [name for name in debated_studies(plan) if study in ("", name)]
    return [f"results/outcome/{name}.{ending}" for name, ending in product(names, OUTCOME_ENDINGS)]


def outcome_files(study: str) -> list[str]:
    """Return the files on the outcome of a study, or of the comparison of all."""
    return [f"results/outcome/{study}.{ending}" for ending in OUTCOME_ENDINGS]


def shards_with_people(plan: Plan) -> list[str]:
    """Return the files of transcripts of the debates in which people take part."""
    files: list[str] = []
    for name, experiment in plan.experiments.items():
        for model in experiment.config.models if experiment.people else ():
            files += shards(plan, name, model)
    return files


def page_contents(plan: Plan, study: str = "") -> list[str]:
    """Return the files that the front page of a study, or of the whole run, shows.

    There are none for a study without results in this run.
    """
    return [
        *table_files(nonempty_names(plan, TABLES, study)),
        *figure_files(nonempty_names(plan, FIGURES, study)),
        *readers(plan, study),
        *(outcomes(plan, study) if study else papers(plan)),
    ]


def bundle_contents(plan: Plan) -> list[str]:
    """Return the files of a run, without the tables and figures, that its bundle reads."""
    files: list[str] = []
    for name in plan.datasets_used:
        cases, features = f"results/cases/{name}", f"results/features/{name}.parquet"
        files += [f"{cases}.parquet", f"{cases}_cleaning.csv", features]
    for experiment in plan.experiments.values():
        if experiment.config.protocol == RECORDED:
            files.append(f"results/records/{experiment.config.dataset}.parquet")
    files += [f"results/calls/{run}.parquet" for run in runs(plan)]
    for run in labelled_runs(plan):
        files.append(f"results/annotations/{run}.parquet")
        files += shards(plan, *run.split("/"))
    return list(dict.fromkeys(files))


def papers(plan: Plan) -> list[str]:
    """Return the pages of the papers of a run, with the files of their items."""
    files: list[str] = []
    for name, paper in read_papers(items_file(plan.shipped)).items():
        if name in papers_of_run(plan):
            files += paper_files(paper)
    return files


def existing_paths(paths: Iterable[str]) -> list[Path]:
    """Return those paths that exist."""
    return [path for path in map(Path, paths) if path.exists()]
