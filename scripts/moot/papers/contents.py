"""The contents of a paper's page, from what a run says about the paper."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pandas as pd

from moot.core.types import Fields, JsonObject
from moot.papers import fillers_of
from moot.papers.grid import PublishedValues
from moot.papers.items import Paper, PaperItem
from moot.papers.page import SCORES, InText, ItemContent, write_csv, write_page
from moot.papers.parts import Clauses, Design, Example, Fact, ItemRun, OwnRow, Part, Series
from moot.report.figures import made_up_mark
from moot.report.notes import join_names_by_note, join_notes
from moot.report.published import SHARE, Published, trained_score
from moot.report.study_results import StudyResults

COLUMNS = (
    *("study", "experiment", "model", "data", "group", "metric", "average"),
    *("value", "low", "high", "n", "n_invalid", "n_cases"),
)
DIGITS = 10
METRICS_OF_MODELS = ("accuracy", "auc", "kappa", "mcc", "brier", "recall", "precision", "f1")
"""Metrics of a leaderboard; the columns of the last three end with an average."""
ENDS = ("low", "high")
"""Endings of columns with the ends of an interval."""


@dataclass(frozen=True, slots=True)
class ItemPlan:
    """What the configuration of a run says about an item.

    Attributes:
        designs: The paper's experiments, then the run's experiments with the same protocols.
        departures: How moot departs from the paper.
        needs: The experiments, models and data that filling the item needs.
        commands: The commands that fill it.
    """

    designs: tuple[Design, ...] = ()
    departures: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MadeUpInputs:
    """The remarks on made-up data and models, by experiment, and by data set of trained models.

    A sample that is the paper's own data has none.
    """

    experiments: Mapping[str, Sequence[str]]
    datasets: Mapping[str, Sequence[str]]

    def notes_on(self, part: Part) -> list[str]:
        """Return the notes on a part's experiments, or else on its data."""
        notes: list[str] = []
        if isinstance(part, (OwnRow, Series, Example)):
            for source in part.source.split(", "):
                notes += self.experiments.get(source, ())
        if not notes and isinstance(part, (OwnRow, Series)):  # a trained model
            for name in _datasets_of(part):
                notes += self.datasets.get(name, ())
        return notes


@dataclass(frozen=True, slots=True)
class PaperRun:
    """What a run says about a paper.

    Attributes:
        paper: The paper.
        results: The results of each study of the paper.
        items: What the configuration says about each item.
        models: The configuration of each model, in words.
        findings: The findings about each item, and about the text as `PAPER/text`.
        made_up: The remarks on made-up inputs.
        is_rehearsal: Whether a stand-in drew the replies.
    """

    paper: Paper
    results: Mapping[str, StudyResults]
    items: Mapping[str, ItemPlan]
    models: Mapping[str, str]
    findings: Mapping[str, Sequence[str]]
    made_up: MadeUpInputs
    is_rehearsal: bool = False


def write_paper(run: PaperRun, folder: Path) -> None:
    """Write the page of a paper and the files of its items below `results/papers`."""
    published = pd.concat([results.published for results in run.results.values()])
    contents = [_fill_item(run, item) for item in run.paper.items]
    notes: list[str] = []
    for content in contents:
        for part in content.parts:
            notes += run.made_up.notes_on(part)
    write_page(
        run.paper,
        contents,
        published_values_of(published),
        folder,
        run.is_rehearsal,
        join_notes(notes),
        _read_text(run, published),
    )
    scores = scores_frame(run.results.values())
    write_csv(scores, folder / run.paper.name / SCORES, run.is_rehearsal)


def published_values_of(frame: pd.DataFrame) -> PublishedValues:
    """Return the published values of some studies by table, row and metric."""
    values: dict[tuple[str, str, str], Published] = {}
    columns = ["table", "row", "metric", "value", "n", "cases", "error"]
    for table, row, metric, value, n, cases, error in frame[columns].itertuples(
        index=False, name=None
    ):
        values[table, row, metric] = Published.of(value, n, cases, error == SHARE)
    return values


def _fill_item(run: PaperRun, item: PaperItem) -> ItemContent:
    parts, of_item = _fill_parts(run, item), run.items[item.name]
    return ItemContent(
        item=item,
        parts=tuple(parts),
        findings=tuple(run.findings.get(item.name, ())),
        departures=of_item.departures,
        needs=(*_untrained(item, run.results), *of_item.needs),
        command="\n".join(of_item.commands),
        warnings=tuple(item_warnings(run.made_up, parts)),
        mark=figure_mark(run.made_up, item, parts),
    )


def _fill_parts(run: PaperRun, item: PaperItem) -> list[Part]:
    designs = run.items.get(item.name, ItemPlan()).designs
    parts: list[Part] = []
    for filler in fillers_of(item.name):
        if filler.study in run.results:
            parts += filler.fill(ItemRun(item, run.results[filler.study], designs, run.models))
    return parts


def _untrained(item: PaperItem, results: Mapping[str, StudyResults]) -> Iterator[str]:
    """Yield the rows of trained models that stay empty, with the reasons."""
    keys = {row.key for row in item.rows} if item.datasets else set()
    for study_results in results.values():
        for board in study_results.baselines.values():
            failed = board[board["baseline"].isin(list(keys)) & (board["status"] != "ok")]
            failed = failed[failed["accuracy"].isna()] if "accuracy" in failed else failed
            for row in failed.drop_duplicates("baseline").to_dict("records"):
                yield f"Row `{row['baseline']}` stays empty: {row['status']}."


def _read_text(run: PaperRun, published: pd.DataFrame) -> InText:
    """Return what the paper's text and appendix show, beside what this run has."""
    item = PaperItem(f"{run.paper.name}/text", "facts", "In the text")
    parts = _fill_parts(run, item)
    own_texts: dict[str, list[str]] = {}
    for part in parts:
        if isinstance(part, Fact):
            own_texts.setdefault(part.row, []).append(part.text)
    return InText(
        tuple(run.findings.get(item.name, ())),
        tuple(values_in_text(published, own_texts)),
        tuple(part for part in parts if isinstance(part, Clauses)),
    )


def values_in_text(
    published: pd.DataFrame, own_texts: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str, str]]:
    """Yield what a paper's text states in numbers, with each number and what this run has."""
    in_text = published[published["table"].str.startswith("text")]
    columns = ["row", "metric", "value", "n", "note"]
    for row, metric, value, n, name in in_text[columns].itertuples(index=False, name=None):
        of_all = f" of {n:g}" if n > value > 1 else ""
        yield name, f"{value:g}{of_all}", "; ".join(own_texts.get(f"{row}/{metric}", ()))


def item_warnings(made_up: MadeUpInputs, parts: Sequence[Part]) -> Iterator[str]:
    """Yield what readers must know before they read an item's own values.

    A warning names made-up data or models, and states if the paper uses other data.
    """
    notes: list[str] = []
    datasets: set[str] = set()
    for part in parts:
        notes += made_up.notes_on(part)
        if isinstance(part, (OwnRow, Series)):
            datasets.update(_datasets_of(part))
    for warning, names in join_names_by_note(notes).items():
        is_other = not datasets.isdisjoint(names)
        yield f"{warning} The paper uses other data." if is_other else warning


def _datasets_of(part: OwnRow | Series) -> list[str]:
    """Return the data sets that a part's display names of data name."""
    return [name.partition(" ")[0] for name in part.data.split(", ")]


def figure_mark(made_up: MadeUpInputs, item: PaperItem, parts: Sequence[Part]) -> str:
    """Return the mark of a figure whose own points are made up; "" for none."""
    notes_by_series = [made_up.notes_on(part) for part in parts if isinstance(part, Series)]
    if item.entry.get("points"):
        notes_by_series.append([])  # the published points
    return made_up_mark(notes_by_series)


def scores_frame(studies: Iterable[StudyResults]) -> pd.DataFrame:
    """Return a row for each metric of each run and trained model of some studies."""
    frames = [pd.DataFrame(columns=list(COLUMNS))]
    for results in studies:
        names = {name: run.config.dataset for name, run in results.experiments.items()}
        data = [results.data_label(names[name]) for name in results.scores["experiment"]]
        scores = results.scores.rename(columns={"ci_low": "low", "ci_high": "high"})
        frames.append(scores.assign(study=results.study, data=data))
        frames.append(pd.DataFrame(_rows_of_models(results), columns=list(COLUMNS)))
    filled = [frame for frame in frames if len(frame)] or frames[:1]
    # Later digits depend on the order of summation.
    return pd.concat(filled, ignore_index=True)[list(COLUMNS)].round(DIGITS)


def _rows_of_models(results: StudyResults) -> Iterator[JsonObject]:
    """Yield a row for each metric of each trained model."""
    for dataset, board in results.baselines.items():
        for row in cast("list[Fields]", board.to_dict("records")):
            for column, value in row.items():
                metric, _, average = str(column).partition("_")
                if metric in METRICS_OF_MODELS and not average.endswith(ENDS) and pd.notna(value):
                    yield {
                        "study": results.study,
                        "experiment": f"baselines of {dataset}",
                        "model": row["baseline"],
                        "data": results.data_label(dataset),
                        "group": f"evaluation={row['evaluation']}",
                        "metric": metric,
                        "average": average,
                        **_value_cells(row, str(column)),
                    }


def _value_cells(row: Fields, column: str) -> JsonObject:
    score = trained_score(row, column)
    return {
        "value": score.value,
        "low": score.low,
        "high": score.high,
        "n": score.n,
        "n_invalid": score.n_invalid,
        "n_cases": score.n_cases,
    }
