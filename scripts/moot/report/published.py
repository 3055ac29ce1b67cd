"""Published values and the table rows that compare them with this run's values.

The values are read from `data/published/published_results.csv`. Each names the experiment of
config/papers/ that repeats it, and the model. It is shown only next to runs that repeat this
experiment with this model; `moot.plan.as_published` decides which runs do.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, cast

import pandas as pd

from moot.core.errors import UserError
from moot.core.types import Fields, Json
from moot.report.columns import DIFFERENCE, NO_COLUMNS, Columns, Row
from moot.report.content import TableContent
from moot.report.measurement import NOT_A_NUMBER, NOT_MEASURED, Measurement
from moot.report.paper_matches import PaperMatch
from moot.report.study_results import Run, StudyResults
from moot.stats.replication import (
    NOTHING,
    all_defined,
    difference_interval,
    replication_interval,
    scale_interval,
)
from moot.stats.score_intervals import Interval, wilson_interval

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
OUR_WORDING = "the paper's design, our wording"
"""Heading of differences from a paper whose experiment was repeated with prompts of our own."""

DIFFERENCE_NOTE = (
    "Difference is ours minus published. Its 95 % interval treats both values as samples. Our "
    "interval is by cluster of cases. A published share has Wilson's interval for its n; any "
    "other published measure has the width that our interval would have at the published n. "
    "If our value differed only by chance, it would lie in `replication` in 95 of 100 "
    "replications of this size. Both intervals are missing if the paper does not state its n "
    "(`unknown`)."
)
WORDING_NOTE = (
    f"`{OUR_WORDING}`: the same difference for prompts, facts or scripts in our wording. It"
    " includes the effect of the wording and does not replicate the paper's value"
    " (config/prompts_published/README.md)."
)
INVALID_NOTE = (
    "`n` counts debates (or answers), `cases` their cases. Answers without a usable prediction are"
    " excluded from a value and counted in `n invalid`; rows named `invalid = wrong` count them as"
    " wrong instead."
)


def read_published(path: Path) -> pd.DataFrame:
    """Read the published values, one row each.

    Columns: study, table, row, metric, value: The value and where it was published. n: The number
    of answers behind the value; missing if the paper does not state it. cases: The number of cases
    of these answers; missing as for n. error: `share` for a share or count of the answers, else `as
    ours`. repeated_by: The experiment of config/papers/ that repeats the value, or
    `baselines/DATASET`; "" if none does. model: The model of that experiment; "" for each of its
    models. note: A remark.

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
    """Read the findings about published tables: table to sentences.

    The file has the columns `table` and `finding`. Each finding follows from
    `published_results.csv` alone; tests/report/test_findings*.py compute each of them.
    """
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return {
        str(table): rows["finding"].tolist() for table, rows in frame.groupby("table", sort=False)
    }


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
        published.n, published.cases, published.share, published.our_wording = (
            n,
            cases,
            share,
            our_wording,
        )
        return published

    def as_share_of(self, total: float) -> "Published":
        """Return a count as a share of `total`."""
        return Published.of(self / total, self.n, self.cases, self.share, self.our_wording)

    def with_wording_of(self, repeated: "Published") -> "Published":
        """Return the value, marked as shown next to the run of another published value."""
        return Published.of(self, self.n, self.cases, self.share, repeated.our_wording)

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


def published_values(results: StudyResults, table: str) -> Values:
    """Return all values of one published table."""
    return _values(results.published_rows.get(table, ()))


def published_rows(results: StudyResults, table: str) -> list[str]:
    """Return the row names of one published table, each once, in the order of the file."""
    return list(dict.fromkeys(row for row, _ in published_values(results, table)))


def repeated_values(run: Run, table: str) -> Values:
    """Return the values of one published table that a run repeats."""
    return _matching_values(run.study, table, run.paper_match, run.model)


def repeated_baseline_values(
    results: StudyResults, table: str, dataset: str, baseline: str
) -> Values:
    """Return the values of one published table that a model trained on a data set repeats."""
    return _matching_values(results, table, results.paper_matches.dataset(dataset), baseline)


def unrepeated_values(results: StudyResults, table: str) -> Values:
    """Return the values of one published table that nothing in this run repeats."""
    covered: set[tuple[str, str]] = set()
    for (experiment, model), match in results.paper_matches.runs.items():
        if experiment in results.experiments:
            covered |= set(product(match.repeats, (model, "")))
    for dataset, board in results.baselines.items():
        baselines = [str(name) for name in board.get("baseline", ())]
        covered |= set(product(results.paper_matches.dataset(dataset).repeats, baselines))
    rows = results.published_rows.get(table, ())
    return _values([row for row in rows if (row.repeated_by, row.model) not in covered])


def _matching_values(results: StudyResults, table: str, match: PaperMatch, model: str) -> Values:
    rows = results.published_rows.get(table, ())
    matches = [row for row in rows if row.repeated_by in match.repeats and row.model in (model, "")]
    return _values(matches, match.our_wording)


def _values(rows: Sequence[Any], our_wording: bool = False) -> Values:
    values: Values = {}
    for row in rows:
        values[row.row, row.metric] = Published.of(
            row.value, row.n, row.cases, row.error == SHARE, our_wording
        )
    return values


def unmatched_run_notes(results: StudyResults, experiments: Collection[str]) -> list[str]:
    """Return a note on how runs that repeat no published experiment differ from the paper's
    runs.
    """
    models: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for (experiment, model), match in results.paper_matches.runs.items():
        if match.difference and experiment in experiments:
            models[experiment, match.difference].append(model)
    experiments_by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for experiment in dict.fromkeys(experiment for experiment, _ in models):
        all_models = results.experiments[experiment].config.models
        for (name, reason), differing in models.items():
            if name == experiment:
                is_every_model = len(differing) == len(all_models)
                run = experiment if is_every_model else f"{experiment} ({', '.join(differing)})"
                experiments_by_reason[reason].append(run)
    runs = [f"{', '.join(names)}: {reason}" for reason, names in experiments_by_reason.items()]
    return [f"Not as published, and so not compared: {'. '.join(runs)}."] if runs else []


def wording_notes(results: StudyResults, experiments: Collection[str]) -> list[str]:
    """Return a note on the wording of runs that repeat a paper with prompts of our own."""
    departures: dict[str, list[str]] = {}
    for (experiment, _), match in results.paper_matches.runs.items():
        if experiment in experiments and match.repeats and match.our_wording:
            departures.setdefault(" ".join(match.departures), []).append(experiment)
    texts = [
        f"{', '.join(dict.fromkeys(names))}: {reasons}" for reasons, names in departures.items()
    ]
    return [f"{WORDING_NOTE} {' '.join(texts)}"] if texts else []


COUNT_COLUMNS = ("cases", "n", "n invalid")


def share_valid(value: Measurement) -> Measurement:
    """Return the share of valid answers behind a value that leaves out invalid ones."""
    n_asked = value.n + value.n_invalid
    return (
        Measurement(value.n / n_asked, n=n_asked, n_invalid=value.n_invalid)
        if n_asked
        else NOT_MEASURED
    )


DIFFERENCE_COLUMNS = ("difference", OUR_WORDING)


def difference_cells(ours: float, published: float | None) -> dict[str, float]:
    """Return ours minus published, in the column for the paper's wording or for ours."""
    cells = dict.fromkeys(DIFFERENCE_COLUMNS, NOT_A_NUMBER)
    if published is not None:
        in_our_wording = isinstance(published, Published) and published.our_wording
        cells[OUR_WORDING if in_our_wording else "difference"] = ours - published
    return cells


def comparison_row(keys: Fields, published: Published | None, ours: Measurement) -> Row:
    """Return a row that compares a published value with ours.

    It holds the published value and its n, our value with its interval and counts, and their
    difference with its interval and the replication interval.
    """
    published_interval = Interval(NOT_A_NUMBER, *NOTHING)
    published_n = None
    if published is not None:
        published_interval = published.interval(ours)
        published_n = f"{published.n:.0f}" if published.n > 0 else "unknown"
    interval = replication = NOTHING
    if all_defined(published_interval, ours.interval):
        interval = difference_interval(ours.interval, published_interval)
        replication = replication_interval(published_interval, ours.interval)
    is_share = 0 <= published_interval.value < 1 and 0 <= ours.low <= ours.high <= 1
    if is_share:  # a share or a score, not a grade
        replication = (max(replication[0], 0.0), min(replication[1], 1.0))
    return {
        **keys,
        "published": published_interval.value,
        "published n": published_n,
        "ours": ours.interval,
        **difference_cells(ours.value, published),
        "difference low": interval[0],
        "difference high": interval[1],
        "replication low": replication[0],
        "replication high": replication[1],
        "cases": ours.n_cases,
        "n": ours.n,
        "n invalid": ours.n_invalid,
    }


OPTIONAL_SHORT_KEYS = ("experiment", "setting", "data")
"""Keys that the short form shows only where other keys do not distinguish the rows."""
COMPARISON_COLUMNS = (
    Columns()
    .published("published", "published n")
    .estimate("ours")
    .difference(*DIFFERENCE_COLUMNS)
    .interval("difference", "interval of difference", DIFFERENCE)
    .interval("replication", "replication", DIFFERENCE)
    .counts(*COUNT_COLUMNS)
    .short_form("published", "ours", "95 % interval", *DIFFERENCE_COLUMNS)
)


def comparison_table(
    rows: Iterable[Fields],
    keys: Sequence[str],
    notes: Sequence[str],
    more_columns: Columns = NO_COLUMNS,
) -> TableContent:
    """Return a table of rows made by `comparison_row`, with more columns at its right."""
    columns = Columns().keys(*keys[:-1]).plain(keys[-1]).join(COMPARISON_COLUMNS).join(more_columns)
    in_short_form = [
        column.name
        for column in columns.columns
        if column.in_short_form and column.name not in OPTIONAL_SHORT_KEYS
    ]
    columns = columns.short_form(*in_short_form)
    return columns.table(rows, (*notes, DIFFERENCE_NOTE, INVALID_NOTE))


def trained_rows(board: pd.DataFrame) -> list[Fields]:
    """Return the rows of a leaderboard that score a trained model on the test split."""
    if board.empty:
        return []
    tested = board[(board["evaluation"] == "test") & board["accuracy"].notna()]
    return cast("list[Fields]", tested.to_dict("records"))


def trained_score(row: Json, metric: str) -> Measurement:
    """Return a score of a trained model on the test split, from its row of a leaderboard.

    A trained model answers every case.
    """
    value = row.get(metric, NOT_A_NUMBER)
    low = row.get(f"{metric}_low", NOT_A_NUMBER)
    high = row.get(f"{metric}_high", NOT_A_NUMBER)
    return Measurement(value, low, high, row["n"], 0, row["n"])
