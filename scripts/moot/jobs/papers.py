"""From the files of `results/` to the page of a paper."""

import csv
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import Formatter

import pandas as pd

from moot.core.artifacts import file_digest, read_frame, read_frames
from moot.core.types import JsonObject
from moot.jobs.item_designs import describe_needs_of_run, item_commands
from moot.jobs.job_results import RESULTS
from moot.papers import fill_item
from moot.papers.as_published import confirm_served
from moot.papers.items import EXAMPLE, PaperItem
from moot.papers.page import SCORES, ItemContent, paper_files, values_in_text, write_csv, write_page
from moot.papers.parts import Design
from moot.papers.score_table import scores_frame
from moot.papers.wording import PUBLISHED_WORDINGS
from moot.plan.papers_of_run import PaperRun
from moot.report.published import published_values_of, read_findings, read_published
from moot.report.study_results import StudyResults
from moot.scores import no_scores, score_experiment
from moot.scores.results import ExperimentResults

PAPERS = RESULTS / "papers"
OLD_DATE = 1.0
"""A file time in the past, in seconds since 1970."""
DATA_OF_DEPARTURES = ("source", "min_cases")


def write_paper(run: PaperRun, files: Collection[Path]) -> None:
    """Write the page of a paper and the files of its items from results that exist.

    Args:
        run: The paper, and the experiments whose results may be shown.
        files: The files of `results/` that may be read; those that do not exist are left out.
    """
    existing = frozenset(path for path in files if path.exists())
    published = read_published(run.shipped / "data" / "published" / "published_results.csv")
    results = {
        study: load_study(run, study, existing, published[published["study"] == study])
        for study in run.paper.studies
    }
    findings = read_findings(run.shipped / "data" / "published" / "findings.csv")
    of_paper = published[published["study"].isin(run.paper.studies)]
    text = PaperItem(f"{run.paper.name}/text", "facts", "In the text")
    parts = fill_item(text, results)
    text_values = tuple(values_in_text(of_paper, parts))
    in_text = ItemContent(text, parts, findings.get(text.name, ()), text_values=text_values)
    contents = list(_contents(run, results, findings))
    values = published_values_of(of_paper)
    write_page(run.paper, contents, values, PAPERS, run.is_rehearsal, in_text)
    scores = scores_frame(results.values())
    write_csv(scores, PAPERS / run.paper.name / SCORES, run.is_rehearsal)


def _contents(
    run: PaperRun,
    results: Mapping[str, StudyResults],
    findings: Mapping[str, Sequence[str]],
) -> Iterator[ItemContent]:
    """Yield what the page says of each item."""
    models = {key: f"{model.model} ({model.endpoint})" for key, model in run.models.items()}
    examples: set[str] = set()
    for item in run.paper.items:
        examples.update(item.experiments if item.kind == EXAMPLE else ())
    without_examples = {study: set_aside(value, examples) for study, value in results.items()}
    for item in run.paper.items:
        of_item = results if item.kind == EXAMPLE else without_examples
        yield ItemContent(
            item=item,
            parts=fill_item(item, of_item, find_designs(run, item), models),
            findings=findings.get(item.name, ()),
            departures=departures(run, item),
            untrained=[*_untrained(item, results)],
            needs=[*describe_needs_of_run(item, run)],
            commands=item_commands(item, run.designs.values()),
        )


def write_standing_paper(run: PaperRun, files: Collection[Path]) -> None:
    """Write the page of a paper outside of the rule that makes it.

    Changed files get an old date. Therefore the next run of that rule writes them again, with a
    record of their inputs.
    """
    paths = [Path(path) for path in paper_files(run.paper)]
    earlier_digests = [file_digest(path) if path.exists() else "" for path in paths]
    write_paper(run, files)
    if earlier_digests != [file_digest(path) for path in paths]:
        for path in paths:
            os.utime(path, (OLD_DATE, OLD_DATE))


def load_study(
    run: PaperRun, study: str, files: Collection[Path], published: pd.DataFrame
) -> StudyResults:
    """Load the existing results of a study, with trial runs among its experiments.

    A run whose predictions are not in `files` is left out. Scores that no job wrote, as for trial
    runs, are computed.
    """
    designs = [design for design in run.experiments.values() if design.study == study]
    experiments: dict[str, ExperimentResults] = {}
    frames = [no_scores()]
    for design in designs:
        models = _existing_models(design, files)
        if not models:
            continue
        name = design.experiment
        score_file = RESULTS / "scores" / f"{name}.parquet"
        scored_models: set[str] = set()
        if score_file in files:
            scores = read_frames([score_file])
            frames.append(scores)
            scored_models = set(scores["model"])
        # Trial runs have no scores, and neither have models of an earlier run of other items.
        unscored_models = [model for model in models if model not in scored_models]
        unscored = _load(run, design, unscored_models, files)
        if unscored_models and len(unscored.predictions):
            frames.append(score_experiment(unscored))
        elif not scored_models:
            continue
        experiments[name] = _load(run, design, models, files)
    frame = pd.concat([part for part in frames if len(part)] or frames[:1], ignore_index=True)
    baselines: dict[str, pd.DataFrame] = {}
    trials: dict[str, ExperimentResults] = {}
    design_by_dataset = {design.view.dataset: design for design in reversed(designs)}
    for dataset, design in design_by_dataset.items():
        path = RESULTS / "baselines" / f"{dataset}.parquet"
        if path not in files or RESULTS / "cases" / f"{dataset}.parquet" not in files:
            continue
        baselines[dataset] = read_frame(path)
        if all(results.config.dataset != dataset for results in experiments.values()):
            # If only models were trained, an experiment without replies describes the data.
            trials[design.experiment] = _load(run, design, [], files)
    return StudyResults(
        study=study,
        experiments=experiments,
        scores=frame,
        trials=trials,
        baselines=baselines,
        published=published,
        paper_matches=confirm_served(run.matches, frame, run.models),
        is_rehearsal=run.is_rehearsal,
    )


def set_aside(results: StudyResults, names: Collection[str]) -> StudyResults:
    """Return results whose named experiments, of one case each, count as trial runs."""
    examples = {name: of_run for name, of_run in results.experiments.items() if name in names}
    others = {name: of_run for name, of_run in results.experiments.items() if name not in names}
    return replace(results, experiments=others, trials={**results.trials, **examples})


def _load(
    run: PaperRun, design: Design, models: Sequence[str], files: Collection[Path]
) -> ExperimentResults:
    view = replace(design.view, models=tuple(models))
    return ExperimentResults(RESULTS, design.experiment, view, run.seed, files)


def _existing_models(design: Design, files: Collection[Path]) -> list[str]:
    """Return the models of an experiment whose predictions and cases exist."""
    if RESULTS / "cases" / f"{design.view.dataset}.parquet" not in files:
        return []
    folder = RESULTS / "predictions" / design.experiment
    return [model for model in design.view.models if folder / f"{model}.parquet" in files]


def _untrained(item: PaperItem, results: Mapping[str, StudyResults]) -> Iterator[str]:
    """Yield the rows of trained models that stay empty, with the reasons."""
    heads = {row.key: row.heads[-1] for row in item.rows} if item.datasets else {}
    for study_results in results.values():
        for board in study_results.baselines.values():
            failed = board[board["baseline"].isin(list(heads)) & (board["status"] != "ok")]
            failed = failed[failed["accuracy"].isna()] if "accuracy" in failed else failed
            for row in failed.drop_duplicates("baseline").to_dict("records"):
                name = f"Row {heads[row['baseline']]} stays"
                name = "All rows stay" if item.is_one_system else name
                yield f"{name} empty: {row['status']}."


def find_designs(run: PaperRun, item: PaperItem) -> tuple[Design, ...]:
    """Return the paper's experiments of an item, then the run's with the same protocols."""
    of_paper = [design for design in run.designs.values() if design.view.entry in item.experiments]
    protocols = {design.view.protocol for design in of_paper}
    own = [design for design in run.experiments.values() if design.view.protocol in protocols]
    return (*of_paper, *own)


def departures(run: PaperRun, item: PaperItem) -> list[str]:
    """Return how moot departs from the paper in the protocols of an item.

    An experiment of the run counts as the run configures it, another as the paper's design does.
    """
    protocols: dict[str, dict[str, None]] = {}
    for design in run.designs.values():
        if design.view.entry in item.experiments:
            configured = run.experiments.get(design.experiment, design)
            for departure in _departures_of(run, configured, design):
                protocols.setdefault(departure, {})[f"`{design.view.protocol}`"] = None
    return [f"{', '.join(names)}: {departure}" for departure, names in protocols.items()]


def _departures_of(run: PaperRun, configured: Design, design: Design) -> Iterator[str]:
    """Yield the departures of an experiment with the values of its configuration.

    A departure of moot's wording is left out if the prompts are in published words; so is one of
    a value that the configuration does not have.
    """
    view, values = configured.view, _values_of_departures(run, configured, design)
    has_published_words = configured.setting.wording_note.startswith(PUBLISHED_WORDINGS)
    path = run.shipped / "data" / "published" / "departures.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            is_of = view.protocol in row["protocols"].split() and view.loader in row["data"].split()
            names = [name for _, name, _, _ in Formatter().parse(row["departure"]) if name]
            has_values = all(values.get(name) not in (None, "") for name in names)
            if is_of and has_values and not (has_published_words and row["part"] == "prompts"):
                yield row["departure"].format_map(values)


def _values_of_departures(run: PaperRun, configured: Design, design: Design) -> JsonObject:
    values = dict(configured.view.params)
    data, data_of_paper = configured.setting.dataset, design.setting.dataset
    # The numbers of articles and cases in the sentence hold for the paper's data alone.
    if all(data.get(name) == data_of_paper.get(name) for name in DATA_OF_DEPARTURES):
        values |= {name: data.get(name) for name in DATA_OF_DEPARTURES}
    # Of the design, since a run may have a model of one's own in place of the paper's.
    values["num_ctx"] = design.models[design.view.models[0]].context
    values["model_count"] = len(design.view.models)
    training = {**run.designs, **run.experiments}.get(str(values.get("assistant")))
    if training:
        config = training.setting.config
        values["training_repeats"] = f"{config.repeats} debates"
        values["training_cases"] = config.cases or "all"
    return values
