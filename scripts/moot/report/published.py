"""Published values, and which of them a run repeats.

The values are read from `data/published/published_results.csv`. Each names the experiment of
config/papers/ that repeats it, and the model. It is shown only next to runs that repeat this
experiment with this model; `moot.papers.as_published` decides which runs do.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pandas as pd

from moot.core.errors import UserError
from moot.core.types import Fields, Json
from moot.report.study_results import (
    NOT_A_NUMBER,
    NOT_MEASURED,
    Measurement,
    PaperMatch,
    Run,
    StudyResults,
)
from moot.stats.intervals import NOTHING, Interval, wilson_interval
from moot.stats.replication import (
    all_defined,
    replication_interval,
    scale_interval,
)

COLUMNS = (
    "study",
    "table",
    "row",
    "metric",
    "value",
    "n",
    "cases",
    "error",
    "repeated_by",
    "model",
    "note",
)
SHARE = "share"


def read_published(path: Path) -> pd.DataFrame:
    """Read the published values, one row each.

    Columns: study, table, row, metric, value: The value and where it was published. n: The number
    of answers behind the value; missing if the paper does not state it. cases: The number of cases
    of these answers; missing as for n. error: `share` for a share or count of the answers, else `as
    ours`. repeated_by: The experiment of config/papers/ that repeats the value, or
    `baselines/DATASET`; "" if none does. model: The model of that experiment; "" for each of its
    models. note: A remark; what a value of the text is, in words.

    Raises:
        UserError: A column is missing, or a value is not a number; names file and row.
    """
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise UserError(f"{path}: column '{missing[0]}' not found; expected {', '.join(COLUMNS)}.")
    numbers = {
        name: pd.to_numeric(frame[name], errors="coerce") for name in ("value", "n", "cases")
    }
    for name, values in numbers.items():
        is_invalid = values.isna() & ((frame[name] != "") | (name == "value"))
        if is_invalid.any():
            position = int(is_invalid.to_numpy().argmax())
            raise UserError(
                f"{path}, line {position + 2}: {name} '{frame[name].iloc[position]}', expected a"
                " number."
            )
    return frame.assign(**numbers)[list(COLUMNS)]


def read_findings(path: Path) -> dict[str, list[str]]:
    """Read the findings about papers, in sentences by item; `PAPER/text` has those about the text.

    The file has the columns `item` and `finding`. Each finding follows from
    `published_results.csv` alone; tests/report/test_findings*.py compute each of them.
    """
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return {str(item): rows["finding"].tolist() for item, rows in frame.groupby("item", sort=False)}


class Published(float):
    """A published value with the data that determine its sampling error.

    Attributes:
        n: The number of answers behind it; NaN if the paper does not state it.
        cases: The number of cases of these answers; NaN if the paper does not state it.
        share: Whether it is a share of these answers.
        our_wording: Whether it is shown next to a run whose prompts differ from the paper's.
    """

    n: float = NOT_A_NUMBER
    cases: float = NOT_A_NUMBER
    share: bool = False
    our_wording: bool = False

    @classmethod
    def of(
        cls,
        value: float,
        n: float = NOT_A_NUMBER,
        cases: float = NOT_A_NUMBER,
        share: bool = False,
        our_wording: bool = False,
    ) -> "Published":
        """Return a published value with its attributes."""
        published = cls(value)
        published.n = n
        published.cases = cases
        published.share = share
        published.our_wording = our_wording
        return published

    def as_share_of(self, total: float) -> "Published":
        """Return a count as a share of `total`."""
        return Published.of(self / total, self.n, self.cases, self.share, self.our_wording)

    def interval(self, ours: "Measurement") -> Interval:
        """Return the value with its 95 % interval; the ends are NaN if its n is unknown.

        The interval of a value that is not a share has the width of ours, scaled to its n. Repeated
        answers about the same cases widen the interval by the design effect of ours.
        """
        has_repeats = self.cases < self.n
        if not self.n > 0 or not all_defined(ours.interval):
            return Interval(self, *NOTHING)
        if not self.share:
            return scale_interval(
                self, ours.interval, ours.n if has_repeats else ours.n_cases, self.n
            )
        unclustered = wilson_interval(ours.value, ours.n)
        design_effect = (
            (ours.high - ours.low) / (unclustered.high - unclustered.low) if has_repeats else 1.0
        )
        return wilson_interval(self, self.n / max(design_effect, 1.0) ** 2)


Values = dict[tuple[str, str], Published]
"""(row, metric) of one published table to its value, in the order of the file."""


PublishedValues = Mapping[tuple[str, str, str], Published]
"""Table, row and metric to a published value."""


def published_values_of(frame: pd.DataFrame) -> PublishedValues:
    """Return the published values of some studies by table, row and metric."""
    rows: Iterable[Any] = frame.itertuples(index=False)
    return {(row.table, row.row, row.metric): _read_value(row) for row in rows}


def published_values(results: StudyResults, table: str) -> Values:
    """Return all values of one published table."""
    return _values(results.published_rows.get(table, ()))


def repeated_values(run: Run, table: str) -> Values:
    """Return the values of one published table that a run repeats."""
    return _matching_values(run.study, table, run.paper_match, run.model)


def repeated_baseline_values(
    results: StudyResults, table: str, dataset: str, baseline: str
) -> Values:
    """Return the values of one published table that a model trained on a data set repeats."""
    return _matching_values(results, table, results.paper_matches.dataset(dataset), baseline)


def _matching_values(results: StudyResults, table: str, match: PaperMatch, model: str) -> Values:
    rows = results.published_rows.get(table, ())
    matches = [row for row in rows if row.repeated_by in match.repeats and row.model in (model, "")]
    return _values(matches, match.our_wording)


def _values(rows: Sequence[Any], our_wording: bool = False) -> Values:
    return {(row.row, row.metric): _read_value(row, our_wording) for row in rows}


def _read_value(row: Any, our_wording: bool = False) -> Published:
    return Published.of(row.value, row.n, row.cases, row.error == SHARE, our_wording)


def share_valid(value: Measurement) -> Measurement:
    """Return the share of valid answers behind a value that leaves out invalid ones."""
    n_answers = value.n_answers
    return (
        Measurement(value.n / n_answers, n=n_answers, n_invalid=value.n_invalid)
        if n_answers
        else NOT_MEASURED
    )


def replication_range(published: Published, ours: Measurement) -> tuple[float, float]:
    """Return the interval in which a replication of our size falls in 95 of 100 cases.

    It is NaN if the paper does not state its n, or if our value has no interval.
    """
    interval = published.interval(ours)
    if not all_defined(interval, ours.interval):
        return NOTHING
    low, high = replication_interval(interval, ours.interval)
    # a share or a score, not a grade
    if 0 <= interval.value < 1 and 0 <= ours.low <= ours.high <= 1:
        return max(low, 0.0), min(high, 1.0)
    return low, high


def trained_rows(board: pd.DataFrame, evaluation: str = "test") -> list[Fields]:
    """Return the rows of a leaderboard that score a trained model, by default on the test split."""
    if board.empty:
        return []
    tested = board[(board["evaluation"] == evaluation) & board["accuracy"].notna()]
    return cast("list[Fields]", tested.to_dict("records"))


def trained_score(row: Json, metric: str) -> Measurement:
    """Return a score of a trained model on the test split, from its row of a leaderboard.

    A trained model answers every case.
    """
    value = row.get(metric, NOT_A_NUMBER)
    low = row.get(f"{metric}_low", NOT_A_NUMBER)
    high = row.get(f"{metric}_high", NOT_A_NUMBER)
    return Measurement(value, low, high, row["n"], 0, row["n"])
