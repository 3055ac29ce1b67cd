"""Tables with a row a turn, or a row an answer: one check of all that goes wrong with them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from moot.core.errors import UserError
from moot.core.input_files import quoted, refuse
from moot.core.kinds import CONCLUSION
from moot.core.log import LOG
from moot.core.places import Faults
from moot.core.types import Column
from moot.core.user_tables import read_table
from moot.datasets.records import leave_out
from moot.datasets.turn_columns import TranscriptsOptions, TurnColumns, is_pattern

EVERYBODY = ("", "public", "all")
_MOST_LABELS, _TWO = 50, 2
_SAID = 5
_ROUNDING = 0.02
"""By which stated probabilities of all labels may miss 1."""


@dataclass(frozen=True, slots=True)
class Turns:
    """A table of turns that was checked.

    Attributes:
        rows: the turns in order, debate by debate, with the columns that `TurnColumns` names:
            strings, beliefs and confidences numbers; and `(debate)` (its number, from 0; of answers
            the row's), `(case)`, `(method)`, `(round)`, `(repeat)`, `(judge_repeat)`. Indexed by
            file (its number) and row.
        answers: each word, and the label that it means; None where it is no answer.
        stated: each JSON object of answers, and who answered what.
        labels: all of them, of two the negative one first.
        positive: the label that binary scores call positive.
        account: what was counted, by short description.
    """

    rows: pd.DataFrame
    answers: Mapping[str, str | None]
    stated: Mapping[str, Mapping[str, str | None]]
    labels: tuple[str, ...]
    positive: str
    account: Mapping[str, int]


class _Checker:
    """Notes what is wrong with some rows of the files, and leaves out their debates where these are
    few.
    """

    def __init__(self, files: Sequence[Path], allowed: float, noun: str) -> None:
        self.files, self.faults, self._allowed, self.noun = files, Faults(), allowed, noun
        self._wrong, self._left, self.unread = set[tuple[int, int]](), 0, 0

    def read(self, options: TranscriptsOptions) -> pd.DataFrame:
        """The rows of all files; one that cannot be read is left out as a debate is, where others
        can.
        """
        tables = dict[int, pd.DataFrame]()
        for number, file in enumerate(self.files):
            with self.faults.noting():
                tables[number] = _read(file, options)
        self.unread = self._left = len(self.files) - len(tables)
        if not tables:
            more = f"\nNo other of the {self.unread} files can be read." * (self.unread > 1)
            raise UserError(self.faults.messages[0] + more)
        return pd.concat(tables, names=["file", "row"])

    def refuse(
        self, values: Column, wrong: "pd.Series[bool]", expected: str, do: str = "Correct the row."
    ) -> None:
        """Note each value of a column that is wrong."""
        first, *more = [*wrong.index[wrong].get_level_values(0).unique()] or [None]
        if first is None:
            return
        self._wrong |= set(wrong.index[wrong])
        with self.faults.noting():
            refuse(self.files[first], values.xs(first), wrong.xs(first), expected, do)
        if more:
            self.faults.add(
                f"{self.files[first].parent}: {len(more)} more files have the same fault."
            )

    def without_faulty(self, rows: pd.DataFrame, of: int) -> pd.DataFrame:
        """The rows of debates in which nothing is wrong;
        `UserError` where others are more than a share `of` all.
        """
        wrong = rows.loc[rows.index.isin(self._wrong), "(debate)"].unique()
        self._left += len(wrong)
        do = "Correct the files, or allow more."
        leave_out(self.faults.messages, self._left, of + self.unread, self._allowed, do, self.noun)
        self.faults = Faults()
        return rows[~rows["(debate)"].isin(wrong)] if len(wrong) else rows


def read_turns(
    options: TranscriptsOptions, tables: Mapping[Path, pd.DataFrame] | None = None
) -> Turns:
    """Read and check the files, or check tables of some that were read already.

    Raises:
        UserError: a missing file or column; and in more debates than `faulty` allows (fewer are
            left out, and counted) a file of several that cannot be read; a turn without debate or
            speaker; a turn twice; a number, time or JSON object that cannot be read; an unknown
            label; a belief outside 0 to 1, or beliefs that do not add up to 1; rows that say
            different things of one case. Each names file, row, column, what was found and expected.
    """
    files, names = list(tables or options.files), options.columns
    check = _Checker(files, options.faulty, "debates" if names.debate else "answers")
    rows = (
        pd.concat(dict(enumerate(tables.values())), names=["file", "row"])
        if tables
        else check.read(options)
    )
    _extract(rows, check, options)
    _check_filled(rows, check, names)
    _add_columns(rows, check, names)
    _check_constant(rows, check, options)
    _read_beliefs(rows, check, names)
    answers, stated, labels = _read_labels(rows, check, options)
    read, debates = len(rows), rows["(debate)"].nunique()
    rows = check.without_faulty(rows, debates)
    _refuse_turns_twice(rows, check, names)
    rows, account = _ordered(check.without_faulty(rows, debates), files[0], names)
    kept = rows["(debate)"].nunique()
    account = {
        "rows read": read,
        check.noun: kept,
        f"{check.noun} left out, as something is wrong": debates + check.unread - kept,
        **account,
    }
    positive = options.positive or (labels[1] if len(labels) == _TWO else "")
    counted = {what: count for what, count in account.items() if count}
    return Turns(rows, answers, stated, labels, positive, counted)


def _read(path: Path, options: TranscriptsOptions) -> pd.DataFrame:
    """One file, with the columns that are wanted."""
    new = [name for pattern in options.extract.values() for name in re.compile(pattern).groupindex]
    wanted = [name for name in (*options.columns.named, *options.told_of_cases) if name not in new]
    return read_table(path, list(dict.fromkeys([*wanted, *options.extract])), kind=options.format)


def _extract(rows: pd.DataFrame, check: _Checker, options: TranscriptsOptions) -> None:
    """Add the columns that `extract` takes out of others."""
    for column, pattern in options.extract.items():
        found = rows[column].str.extract(re.compile(pattern))
        check.refuse(
            rows[column], found.isna().all(axis="columns"), f"what {pattern} fits, of `extract`"
        )
        rows[found.columns] = found.fillna("")


def _check_filled(rows: pd.DataFrame, check: _Checker, names: TurnColumns) -> None:
    """Require a debate, a case and a speaker in each row, and no kind that moot uses itself."""
    for column, expected in (
        (names.debate, "a debate"),
        (names.case, "a case"),
        (names.speaker, "a speaker"),
    ):
        if column:
            blank = rows[column].str.strip() == ""
            if column == names.speaker and names.judge:
                blank &= rows[names.judge].str.strip() == ""
            check.refuse(rows[column], blank, expected, "Fill it in, or remove the row.")
    if names.kind:
        check.refuse(
            rows[names.kind],
            rows[names.kind].str.casefold() == CONCLUSION,
            "another word, which moot uses",
        )


def _add_columns(rows: pd.DataFrame, check: _Checker, names: TurnColumns) -> None:
    """Add the columns in brackets, by which turns are ordered and told apart."""
    rows["(method)"] = rows[names.method].str.strip() if names.method else ""
    rows["(case)"] = rows[names.case or names.debate]
    rows["(debate)"] = pd.factorize(rows[names.debate])[0] if names.debate else range(len(rows))
    for name in ("round", "repeat", "judge_repeat"):
        column = getattr(names, name)
        rows[f"({name})"] = _whole(rows[column], check) if column else 0
    if names.turn:
        rows["(turn)"] = _whole(rows[names.turn], check)
    if names.time:
        rows["(time)"] = _times(rows[names.time], check)
    rows["(judge_repeat)"] -= rows["(judge_repeat)"].min()
    if names.judge and not (names.turn or names.time or names.judge_repeat):
        debate = (
            ["(debate)"] if names.debate else ["(case)", names.method, names.model, names.repeat]
        )
        rows["(judge_repeat)"] = rows.groupby(
            [*filter(None, (*debate, names.judge, names.persona))]
        ).cumcount()


def _check_constant(rows: pd.DataFrame, check: _Checker, options: TranscriptsOptions) -> None:
    """Require that all rows of a debate are of one case and method, and all rows of a case say the
    same of it.
    """
    names = options.columns
    for within, column, what in (
        *(
            (names.debate, name, "debate")
            for name in (names.case, names.method)
            if name and names.debate
        ),
        *(("(case)", name, "case") for name in options.told_of_cases),
    ):
        told = rows[column].where(rows[column].str.strip() != "")
        first = told.groupby(rows[within], sort=False).transform("first")
        if what == "case":  # a case's first row may speak for all of them
            rows[column] = told.fillna(first).fillna("")
        check.refuse(
            rows[column], told.notna() & (told != first), f"the same in all rows of a {what}"
        )


def _read_beliefs(rows: pd.DataFrame, check: _Checker, names: TurnColumns) -> None:
    """Make beliefs numbers, with a decimal point or comma; a blank one is missing."""
    columns = list(names.beliefs.values())
    for column in (*columns, *filter(None, [names.confidence])):
        most = 100 if column == names.confidence else 1
        cells = (
            rows[column].where(rows[column].str.strip() != "").str.replace(",", ".")
        )  # spreadsheets' decimal commas
        numbers = pd.to_numeric(cells, errors="coerce").astype("float64")
        wrong = (rows[column].str.strip() != "") & ~numbers.between(0, most)
        check.refuse(rows[column], wrong, f"a number from 0 to {most}")
        rows[column] = numbers
    if len(columns) > 1:
        total = rows[columns].sum(axis="columns", min_count=1)
        off = (total - 1).abs() > _ROUNDING
        check.refuse(
            total.round(3).rename(" + ".join(columns)), off, "probabilities that add up to 1"
        )


def _read_labels(
    rows: pd.DataFrame, check: _Checker, options: TranscriptsOptions
) -> tuple[Mapping[str, str | None], Mapping[str, Mapping[str, str | None]], tuple[str, ...]]:
    """The label of each word that stands for one, who answered what in each JSON object, and all
    labels.
    """
    names = options.columns
    words = set[str]()
    for column in filter(None, (names.answer, names.truth)):
        rows[column] = rows[column].str.strip()
        words |= set(rows[column].unique())
    given: dict[str, Mapping[str, str]] = {}
    if names.answers:
        cells = rows[names.answers].unique()
        given = {cell: who for cell in cells if (who := _who_answered(cell)) is not None}
        expected = 'a JSON object of names and answers, such as {"Ann": "yes"}, or blank'
        check.refuse(rows[names.answers], ~rows[names.answers].isin(list(given)), expected)
        words |= {word for found in given.values() for word in found.values()}
    known = {word: label for word in sorted(words) if (label := _label(word, options)) is not None}
    labels = tuple(dict.fromkeys(options.labels.values() or sorted(set(known.values()))))
    labels = (
        tuple(sorted(labels, key=lambda label: label == options.positive))
        if len(labels) == _TWO
        else labels
    )
    if len(labels) > _MOST_LABELS:
        raise UserError(
            f"{options.path}: the answers hold {len(labels)} different words; expected labels, at"
            f" most {_MOST_LABELS}. Is it the right column? If so, say in `labels` which word means"
            " what."
        )
    if not labels:
        raise UserError(
            f"{options.path}: no answers, and no labels. Say in `labels` what a judge could answer."
        )
    for option, chosen in (("positive", options.positive), ("truth", options.truth)):
        if chosen and chosen not in labels:
            raise UserError(
                f"{options.path}: {option} is {quoted(chosen)}; expected one of"
                f" {', '.join(labels)}."
            )
    listed = ", ".join(options.labels) or "a label"
    answers: dict[str, str | None] = {word: known.get(word) for word in words}
    unknown = [
        word for word in words if word not in known and word.strip() not in options.no_answer
    ]
    do = "Add it to `labels` or `no_answer`, or correct the row."
    for column in filter(None, (names.answer, names.truth)):
        check.refuse(rows[column], rows[column].isin(unknown), f"one of {listed}", do)
    if names.answers and unknown:
        wrong = [
            cell for cell, found in given.items() if not set(found.values()).isdisjoint(unknown)
        ]
        expected = f"no answer {', '.join(map(quoted, unknown[:_SAID]))}, but {listed}"
        check.refuse(rows[names.answers], rows[names.answers].isin(wrong), expected, do)
    stated = {
        cell: {who: answers[word] for who, word in found.items()} for cell, found in given.items()
    }
    return answers, stated, labels


def _label(word: str, options: TranscriptsOptions) -> str | None:
    """The label that a word means; None where it is none."""
    if word.strip() in options.no_answer:
        return None
    if not options.labels:
        return word.strip().casefold()
    fits = (name for name in options.labels if is_pattern(name) and re.fullmatch(name[1:-1], word))
    return options.labels.get(word) or options.labels.get(next(fits, ""))


def _who_answered(cell: str) -> Mapping[str, str] | None:
    """Names and answers of a JSON object;
    None where the cell holds anything else. A blank cell is an empty one.
    """
    try:
        found = json.loads(cell) if cell.strip() else {}
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    return {
        str(who): ",".join(sorted(map(str, answer))) if isinstance(answer, list) else str(answer)
        for who, answer in found.items()
        if answer is not None
    }


def _refuse_turns_twice(rows: pd.DataFrame, check: _Checker, names: TurnColumns) -> None:
    """Note a turn that a debate has twice; several may judge after one turn."""
    if names.turn and not names.judge:
        do = "Remove the row that is there twice, or number the turns of each debate."
        check.refuse(
            rows[names.turn],
            rows.duplicated(["(debate)", "(turn)"]),
            "each turn of a debate once",
            do,
        )


def _ordered(
    rows: pd.DataFrame, file: Path, names: TurnColumns
) -> tuple[pd.DataFrame, Mapping[str, int]]:
    """The rows in order, debate by debate, and what was counted of their order."""
    order, account = (
        pd.DataFrame({"debate": rows["(debate)"].to_numpy()}, rows.index),
        dict[str, int](),
    )
    if names.turn:
        order["turn"] = rows["(turn)"]
        turns = order.drop_duplicates().groupby("debate")["turn"]
        account["debates with a hole in the numbers of turns"] = int(
            (turns.max() - turns.min() + 1 != turns.size()).sum()
        )
    positions = order.reset_index(drop=True).sort_values([*order], kind="stable").index
    if names.time:
        order["time"] = rows["(time)"]
        earlier = order.iloc[positions].groupby("debate")["time"].diff() < 0
        account["turns said before the turn that precedes them"] = int(earlier.sum())
        positions = order.reset_index(drop=True).sort_values([*order], kind="stable").index
    if names.role and names.speaker:
        roles = rows.groupby(["(debate)", names.speaker])[names.role].nunique()
        account["speakers in several roles"] = int((roles > 1).sum())
    for what in account:
        if account[what]:
            LOG.warning("%s: %d %s; they are kept.", file, account[what], what)
    if names.text:
        account["turns without words"] = int((rows[names.text].str.strip() == "").sum())
    return rows.iloc[positions], account


def _whole(cells: Column, check: _Checker) -> Column:
    """Whole numbers; those that are none are noted."""
    fits = cells.str.strip().str.fullmatch(r"-?[0-9]{1,18}")
    check.refuse(cells, ~fits, "a whole number")
    return cells.where(fits, "0").astype("int64")


def _times(cells: Column, check: _Checker) -> "pd.Series[float]":
    """Times as numbers."""
    numbers = pd.to_numeric(cells, errors="coerce")
    if numbers.isna().any():
        dates = pd.to_datetime(cells, errors="coerce", utc=True, format="ISO8601")
        check.refuse(cells, dates.isna(), "a number, or a date and time such as 2026-01-31 14:05")
        numbers = (dates - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1)
    return numbers.astype("float64")
