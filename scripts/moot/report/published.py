"""Published values beside ours: `data/published/published_results.csv`, and the rows that compare with it.

Each published value names the experiment of config/paper.yaml that repeats it, and the model. It stands beside a
run that repeats this experiment with this model, and beside no other (`moot.stages.as_published` decides which do).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from moot.core.errors import UserError
from moot.report.content import AsPublished, StudyResults, TableContent
from moot.scores.results import OVERALL

COLUMNS = ("study", "table", "row", "metric", "value", "repeated_by", "model", "note")
TRAINED_ON = "baselines/"
"""How `repeated_by` names the trained models of a data set."""
NOT_A_NUMBER = float("nan")

DIFFERENCE_NOTE = (
    "Difference is ours less published; its 95 % interval is that of our value (by cluster of cases), "
    "since the published value comes without one."
)
INVALID_NOTE = (
    "`n` counts debates (or answers), `cases` the cases that they are about. "
    "Answers without a usable prediction are left out of a value and counted in `n invalid`; rows named "
    "`invalid = wrong` count them as wrong instead."
)


def read_published(path: Path) -> pd.DataFrame:
    """Published figures: one row each.

    Columns: study, table, row, metric, value; repeated_by, the experiment of config/paper.yaml that repeats it, or
    `baselines/DATASET`, or "" where nothing does; model, the model there ("": each of its models); note.

    Raises:
        UserError: a column is missing, or a value is no number; names file and row.
    """
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise UserError(f"{path}: column '{missing[0]}' not found; expected {', '.join(COLUMNS)}.")
    values = pd.to_numeric(frame["value"], errors="coerce")
    if values.isna().any():
        position = int(values.isna().to_numpy().argmax())
        raise UserError(f"{path}, line {position + 2}: value '{frame['value'].iloc[position]}', expected a number.")
    return frame.assign(value=values)[list(COLUMNS)]


Values = dict[tuple[str, str], float]
"""(row, metric) of one published table to its value, in the order of the file."""


def published_table(results: StudyResults, table: str) -> Values:
    """All values of one published table: to be told in notes, or to be shown by themselves."""
    return _values(_rows_of(results, table))


def published_rows(results: StudyResults, table: str) -> list[str]:
    """The rows of one published table, each once, in the order of the file."""
    return list(dict.fromkeys(row for row, _ in published_table(results, table)))


def beside(results: StudyResults, table: str, experiment: str, model: str) -> Values:
    """The values of one published table that a run repeats: none where it is not as published."""
    return _repeated(results, table, results.comparable.run(experiment, model), model)


def beside_trained(results: StudyResults, table: str, dataset: str, baseline: str) -> Values:
    """The values of one published table that a model trained on a data set repeats."""
    return _repeated(results, table, results.comparable.dataset(dataset), baseline)


def not_repeated(results: StudyResults, table: str) -> Values:
    """The values of one published table that nothing in this run repeats: they stand by themselves."""
    covered = {
        (name, shown)
        for (experiment, model), found in results.comparable.runs.items()
        if experiment in results.experiments
        for name in found.repeats
        for shown in (model, "")
    }
    covered |= {
        (name, str(baseline))
        for dataset, board in results.baselines.items()
        for name in results.comparable.dataset(dataset).repeats
        for baseline in board.get("baseline", ())
    }
    rows = _rows_of(results, table)
    keys = zip(rows["repeated_by"], rows["model"], strict=True)
    return _values(rows[[key not in covered for key in keys]])


def _rows_of(results: StudyResults, table: str) -> pd.DataFrame:
    return results.published[results.published["table"] == table]


def _repeated(results: StudyResults, table: str, found: AsPublished, model: str) -> Values:
    rows = _rows_of(results, table)
    return _values(rows[rows["repeated_by"].isin(found.repeats) & rows["model"].isin((model, ""))])


def _values(rows: pd.DataFrame) -> Values:
    return {(row, metric): float(v) for row, metric, v in zip(rows["row"], rows["metric"], rows["value"], strict=True)}


def why_not_compared(results: StudyResults, experiments: Collection[str] | None = None) -> list[str]:
    """A note that says of runs without a published value beside them how they differ from the paper's.

    Args:
        results: the study's results.
        experiments: those to speak of; None for all.
    """
    models: dict[str, dict[str, list[str]]] = {}
    for (experiment, model), found in results.comparable.runs.items():
        if found.differs and experiment in (results.experiments if experiments is None else experiments):
            models.setdefault(experiment, {}).setdefault(found.differs, []).append(model)
    named: dict[str, list[str]] = {}
    for experiment, by_reason in models.items():
        for reason, those in by_reason.items():
            every = len(those) == len(results.experiments[experiment].config.models)
            named.setdefault(reason, []).append(experiment if every else f"{experiment} ({', '.join(those)})")
    runs = [f"{', '.join(those)}: {reason}" for reason, those in named.items()]
    return [f"Not as published, and so not compared: {'. '.join(runs)}."] if runs else []


@dataclass(frozen=True, slots=True)
class Measured:
    """One value that this run measured; all missing where it did not measure it."""

    value: float = NOT_A_NUMBER
    low: float = NOT_A_NUMBER
    high: float = NOT_A_NUMBER
    n: float = NOT_A_NUMBER
    n_invalid: float = NOT_A_NUMBER
    n_cases: float = NOT_A_NUMBER


NOT_MEASURED = Measured()


def share_valid(value: Measured) -> Measured:
    """The share of valid answers behind a value that leaves the others out."""
    asked = value.n + value.n_invalid
    return Measured(value.n / asked, n=asked, n_invalid=value.n_invalid) if asked else NOT_MEASURED


def measured(
    results: StudyResults, experiment: str, model: str, metric: str, average: str = "", group: str = OVERALL
) -> Measured:
    """One score of a study's results."""
    score = results.score_index.get((experiment, model, metric, average, group))
    if score is None:
        return NOT_MEASURED
    return Measured(score.value, score.ci_low, score.ci_high, score.n, score.n_invalid, score.n_cases)


def compared(keys: Mapping[str, Any], published: float | None, ours: Measured) -> dict[str, Any]:
    """A row that shows a published value, ours, their difference with its interval, n and n invalid."""
    theirs = NOT_A_NUMBER if published is None else published
    return {
        **keys,
        "published": theirs,
        "ours": ours.value,
        "95 % low": ours.low,
        "95 % high": ours.high,
        "difference": ours.value - theirs,
        "difference low": ours.low - theirs,
        "difference high": ours.high - theirs,
        "cases": ours.n_cases,
        "n": ours.n,
        "n invalid": ours.n_invalid,
    }


def comparison(rows: Iterable[Mapping[str, Any]], keys: Sequence[str], notes: Sequence[str]) -> TableContent:
    """A table of rows made by `compared`."""
    values = list(compared({}, None, NOT_MEASURED))
    frame = pd.DataFrame(list(rows), columns=[*keys, *values])
    return TableContent(
        with_whole_counts(frame),
        notes=(*notes, DIFFERENCE_NOTE, INVALID_NOTE),
        published=("published",),
        ours=("ours", "95 % low", "95 % high"),
        difference=("difference", "difference low", "difference high"),
        intervals={
            "95 % interval": ("95 % low", "95 % high"),
            "interval of difference": ("difference low", "difference high"),
        },
        keys=keys[:-1],
        formats={"difference": "+.3f"},
    )


def with_whole_counts(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its columns `cases`, `n` and `n invalid` as whole numbers, missing ones allowed."""
    return frame.astype({name: "Int64" for name in ("cases", "n", "n invalid") if name in frame})


def score_row(row: Any) -> Measured:
    """A row of the scores schema as a measured value."""
    return Measured(row["value"], row["ci_low"], row["ci_high"], row["n"], row["n_invalid"], row["n_cases"])
