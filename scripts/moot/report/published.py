"""Published values next to ours: `data/published/published_results.csv`, and the rows that compare
with it.

Each published value names the experiment of config/paper.yaml that repeats it, and the model. It is
shown next to a run that repeats this experiment with this model, and to no other
(`moot.plan.as_published` decides which do).
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import pandas as pd

from moot.core.errors import UserError
from moot.core.types import Fields, Json
from moot.report.columns import DIFFERENCE, NO_COLUMNS, Columns, Row
from moot.report.content import (
    NOT_A_NUMBER,
    NOT_MEASURED,
    Measurement,
    PaperMatch,
    Run,
    StudyResults,
    TableContent,
)
from moot.stats.replication import (
    NOTHING,
    Interval,
    all_defined,
    difference_interval,
    replication_interval,
    scale_interval,
    wilson_interval,
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
OUR_WORDING = "the paper's design, our wording"
"""The heading of differences to a paper whose experiment was repeated in other words than its own.
"""

DIFFERENCE_NOTE = (
    "Difference is ours less published. Its 95 % interval is that of two samples: ours by cluster"
    " of cases, the published value's by Wilson for a share of its n, and for any other measure as"
    " wide as ours would be at its n. In 95 of 100 replications of this size our value would lie in"
    " `replication`, if it differed by chance alone. Where the paper does not say its n"
    " (`unknown`), there is neither."
)
WORDING_NOTE = (
    f"`{OUR_WORDING}`: the same difference where the prompts are in our words. It is one of wording"
    " too, and no replication of the paper's value (config/prompts_published/README.md)."
)
INVALID_NOTE = (
    "`n` counts debates (or answers), `cases` the cases that they are about. Answers without a"
    " usable prediction are left out of a value and counted in `n invalid`; rows named `invalid ="
    " wrong` count them as wrong instead."
)


def read_published(path: Path) -> pd.DataFrame:
    """Published figures: one row each.

    Columns: study, table, row, metric, value; n, how many answers it rests on, and cases, about how
    many cases ("" where the paper does not say, and for a number without a sampling error); error,
    `share` for a share or count of these answers, else `as ours`; repeated_by, the experiment of
    config/paper.yaml that repeats it, or `baselines/DATASET`, or "" where nothing does; model, the
    model there ("": each of its models); note.

    Raises:
        UserError: a column is missing, or a value is no number; names file and row.
    """
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise UserError(f"{path}: column '{missing[0]}' not found; expected {', '.join(COLUMNS)}.")
    numbers = {
        name: pd.to_numeric(frame[name], errors="coerce") for name in ("value", "n", "cases")
    }
    for name, values in numbers.items():
        wrong = values.isna() & ((frame[name] != "") | (name == "value"))
        if wrong.any():
            line = int(wrong.to_numpy().argmax())
            raise UserError(
                f"{path}, line {line + 2}: {name} '{frame[name].iloc[line]}', expected a number."
            )
    return frame.assign(**numbers)[list(COLUMNS)]


def read_findings(path: Path) -> dict[str, list[str]]:
    """What published values give away about themselves: table to sentences, columns `table` and
    `finding`.

        They follow from `published_results.csv` alone; tests/report/test_findings.py works each out
        anew.
    """
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return {
        str(table): rows["finding"].tolist() for table, rows in frame.groupby("table", sort=False)
    }


class Published(float):
    """A published value: a number, and what its error follows from.

    Attributes:
        n: how many answers it rests on; NaN where the paper does not say.
        cases: about how many cases they are.
        share: whether it is a share of these answers.
        our_wording: whether it is shown next to a run whose prompts differ from the paper's words.
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
        """The value with what its error follows from."""
        made = cls(value)
        made.n, made.cases, made.share, made.our_wording = n, cases, share, our_wording
        return made

    def as_share_of(self, total: float) -> "Published":
        """A count as a share of all that were counted."""
        return Published.of(self / total, self.n, self.cases, self.share, self.our_wording)

    def with_wording_of(self, repeated: "Published") -> "Published":
        """The value next to the run of another published value."""
        return Published.of(self, self.n, self.cases, self.share, repeated.our_wording)

    def interval(self, ours: "Measurement") -> Interval:
        """The value with its 95 % interval, as wide as that of ours where it is no share; NaN where
        its n is unknown.

                Repeated answers about few cases count as fewer: by as much as ours do.
        """
        repeated = self.cases < self.n
        if not self.n > 0 or not all_defined(ours.interval):
            return Interval(self, *NOTHING)
        if not self.share:
            return scale_interval(self, ours.interval, ours.n if repeated else ours.n_cases, self.n)
        alone = wilson_interval(ours.value, ours.n)
        effect = (ours.high - ours.low) / (alone.high - alone.low) if repeated else 1.0
        return wilson_interval(self, self.n / max(effect, 1.0) ** 2)


Values = dict[tuple[str, str], Published]
"""(row, metric) of one published table to its value, in the order of the file."""


def published_values(results: StudyResults, table: str) -> Values:
    """All values of one published table: to be told in notes, or to be shown by themselves."""
    return _values(_rows_of(results, table))


def published_rows(results: StudyResults, table: str) -> list[str]:
    """The rows of one published table, each once, in the order of the file."""
    return list(dict.fromkeys(row for row, _ in published_values(results, table)))


def repeated_values(run: Run, table: str) -> Values:
    """The values of one published table that a run repeats: none where it is not as published."""
    return _repeated(run.study, table, run.paper_match, run.model)


def repeated_baseline_values(
    results: StudyResults, table: str, dataset: str, baseline: str
) -> Values:
    """The values of one published table that a model trained on a data set repeats."""
    return _repeated(results, table, results.paper_matches.dataset(dataset), baseline)


def unrepeated_values(results: StudyResults, table: str) -> Values:
    """The values of one published table that nothing in this run repeats: they are shown alone."""
    covered = {
        (name, shown)
        for (experiment, model), found in results.paper_matches.runs.items()
        if experiment in results.experiments
        for name in found.repeats
        for shown in (model, "")
    }
    covered |= {
        (name, str(baseline))
        for dataset, board in results.baselines.items()
        for name in results.paper_matches.dataset(dataset).repeats
        for baseline in board.get("baseline", ())
    }
    rows = _rows_of(results, table)
    keys = zip(rows["repeated_by"], rows["model"], strict=True)
    return _values(rows[pd.Series([key not in covered for key in keys], rows.index, dtype=bool)])


def _rows_of(results: StudyResults, table: str) -> pd.DataFrame:
    return results.published[results.published["table"] == table]


def _repeated(results: StudyResults, table: str, found: PaperMatch, model: str) -> Values:
    rows = _rows_of(results, table)
    repeated = rows[rows["repeated_by"].isin(found.repeats) & rows["model"].isin((model, ""))]
    return _values(repeated, found.our_wording)


def _values(rows: pd.DataFrame, our_wording: bool = False) -> Values:
    keys = zip(rows["row"], rows["metric"], strict=True)
    numbers = zip(rows["value"], rows["n"], rows["cases"], rows["error"] == SHARE, strict=True)
    return {
        key: Published.of(*stated, our_wording) for key, stated in zip(keys, numbers, strict=True)
    }


def unmatched_run_notes(results: StudyResults, experiments: Collection[str]) -> list[str]:
    """A note that says of runs of some experiments without a published value how they differ from
    the paper's.
    """
    models: dict[str, dict[str, list[str]]] = {}
    for (experiment, model), found in results.paper_matches.runs.items():
        if found.difference and experiment in experiments:
            models.setdefault(experiment, {}).setdefault(found.difference, []).append(model)
    named: dict[str, list[str]] = {}
    for experiment, by_reason in models.items():
        for reason, those in by_reason.items():
            every = len(those) == len(results.experiments[experiment].config.models)
            named.setdefault(reason, []).append(
                experiment if every else f"{experiment} ({', '.join(those)})"
            )
    runs = [f"{', '.join(those)}: {reason}" for reason, those in named.items()]
    return [f"Not as published, and so not compared: {'. '.join(runs)}."] if runs else []


def wording_notes(results: StudyResults, experiments: Collection[str]) -> list[str]:
    """A note on runs of some experiments that repeat a paper in other words: which departures of
    wording matter.
    """
    departures: dict[str, list[str]] = {}
    for (experiment, _), found in results.paper_matches.runs.items():
        if experiment in experiments and found.repeats and found.our_wording:
            departures.setdefault(" ".join(found.departures), []).append(experiment)
    named = [f"{', '.join(dict.fromkeys(those))}: {said}" for said, those in departures.items()]
    return [f"{WORDING_NOTE} {' '.join(named)}"] if named else []


COUNT_COLUMNS = ("cases", "n", "n invalid")


def share_valid(value: Measurement) -> Measurement:
    """The share of valid answers behind a value that leaves the others out."""
    asked = value.n + value.n_invalid
    return (
        Measurement(value.n / asked, n=asked, n_invalid=value.n_invalid) if asked else NOT_MEASURED
    )


DIFFERENCE_COLUMNS = ("difference", OUR_WORDING)


def difference_cells(ours: float, published: float | None) -> dict[str, float]:
    """Ours less published, in the column for the paper's words or in that for ours."""
    gap = NOT_A_NUMBER if published is None else ours - published
    in_ours = isinstance(published, Published) and published.our_wording
    return dict(
        zip(
            DIFFERENCE_COLUMNS, (NOT_A_NUMBER, gap) if in_ours else (gap, NOT_A_NUMBER), strict=True
        )
    )


def comparison_row(keys: Fields, published: Published | None, ours: Measurement) -> Row:
    """A row that shows a published value and its n, ours, their difference with its interval, n and
    n invalid.
    """
    theirs = Interval(NOT_A_NUMBER, *NOTHING) if published is None else published.interval(ours)
    gap = (
        difference_interval(ours.interval, theirs)
        if all_defined(theirs, ours.interval)
        else NOTHING
    )
    again = (
        replication_interval(theirs, ours.interval)
        if all_defined(theirs, ours.interval)
        else NOTHING
    )
    if 0 <= theirs.value < 1 and 0 <= ours.low <= ours.high <= 1:  # a share or a score, not a grade
        again = (max(again[0], 0.0), min(again[1], 1.0))
    stated = None if published is None else f"{published.n:.0f}" if published.n > 0 else "unknown"
    return {
        **keys,
        "published": (theirs.value, stated),
        "ours": ours.interval,
        **difference_cells(ours.value, published),
        "difference low": (*gap, *again),
        "cases": ours.counts,
    }


OPTIONAL_SHORT_KEYS = ("experiment", "setting", "data")
"""Keys that the short form has where other keys do not tell rows apart."""
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
    """A table of rows made by `compared`, with further columns at its right."""
    columns = Columns().keys(*keys[:-1]).plain(keys[-1]).join(COMPARISON_COLUMNS).join(more_columns)
    columns = columns.short_form(
        *(
            column.name
            for column in columns.columns
            if column.in_short_form and column.name not in OPTIONAL_SHORT_KEYS
        )
    )
    return columns.table(rows, (*notes, DIFFERENCE_NOTE, INVALID_NOTE))


def trained_rows(board: pd.DataFrame) -> list[Fields]:
    """The rows of a leaderboard that score a trained model on the test split."""
    if board.empty:
        return []
    tested = board[(board["evaluation"] == "test") & board["accuracy"].notna()]
    return [{str(name): cell for name, cell in row.items()} for row in tested.to_dict("records")]


def trained_score(row: Json, metric: str) -> Measurement:
    """A score of a trained model on the test split, by its row of a leaderboard; it answers every
    case.
    """
    value, low, high = (row.get(f"{metric}{end}", NOT_A_NUMBER) for end in ("", "_low", "_high"))
    return Measurement(value, low, high, row["n"], 0, row["n"])
