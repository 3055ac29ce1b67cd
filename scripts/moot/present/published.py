"""Published values beside ours: `data/published/published_results.csv`, and the rows that compare with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from moot.errors import UserError
from moot.present import StudyResults, TableContent
from moot.scores import OVERALL

COLUMNS = ("study", "table", "row", "metric", "value", "note")
NOT_A_NUMBER = float("nan")

DIFFERENCE_NOTE = (
    "Difference is ours less published; its 95 % interval is that of our value (percentile bootstrap over cases), "
    "since the published value comes without one."
)
INVALID_NOTE = (
    "Answers without a usable prediction are left out of a value and counted in `n invalid`; rows named "
    "`invalid = wrong` count them as wrong instead."
)


def read_published(path: Path) -> pd.DataFrame:
    """Published figures: one row each, columns study, table, row, metric, value, note.

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


def published_table(results: StudyResults, table: str) -> dict[tuple[str, str], float]:
    """(row, metric) to value of one published table, in the order of the file."""
    rows = results.published[results.published["table"] == table]
    return {(row, metric): float(v) for row, metric, v in zip(rows["row"], rows["metric"], rows["value"], strict=True)}


def published_rows(results: StudyResults, table: str) -> list[str]:
    """The rows of one published table, each once, in the order of the file."""
    return list(dict.fromkeys(row for row, _ in published_table(results, table)))


@dataclass(frozen=True, slots=True)
class Measured:
    """One value that this run measured; all missing where it did not measure it."""

    value: float = NOT_A_NUMBER
    low: float = NOT_A_NUMBER
    high: float = NOT_A_NUMBER
    n: float = NOT_A_NUMBER
    n_invalid: float = NOT_A_NUMBER


NOT_MEASURED = Measured()
PAIRED_HEADINGS = {"low": "difference low", "high": "difference high"}
"""What tables call the interval that `compare_paired` gives."""


def measured(
    results: StudyResults, experiment: str, model: str, metric: str, average: str = "", group: str = OVERALL
) -> Measured:
    """One score of a study's results."""
    score = results.score_index.get((experiment, model, metric, average, group))
    return Measured(score.value, score.ci_low, score.ci_high, score.n, score.n_invalid) if score else NOT_MEASURED


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
    """The frame with its columns `n` and `n invalid` as whole numbers, missing ones allowed."""
    return frame.astype({"n": "Int64", "n invalid": "Int64"})
