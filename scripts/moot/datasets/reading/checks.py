"""The checks of tables of users: each fault has file, row, column, found, expected and remedy.

All functions raise `UserError` with one message that has a line for each fault.
"""

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import Field

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.core.spelling import canonical_word
from moot.core.text_files import quote_value
from moot.core.types import Column

LEFT_OUT = "rows left out because of faults"
_MAX_PROBLEMS = 20
_MAX_COUNTED_ROWS = 100
"""The faulty rows that are counted of a file that is refused: each takes at least one check."""
FaultyShare = Annotated[
    float,
    Field(
        ge=0,
        le=1,
        description=(
            "Largest share of debates (or rows) with a fault, 0 to 1, that are left out and"
            " counted; a larger share is an error."
        ),
    ),
]


def check_header(path: Path, header: Sequence[str], columns: Sequence[str], hint: str = "") -> None:
    """Require that a table has all of `columns`, each once; `hint` ends the message."""
    repeated = [name for name in columns if list(header).count(name) > 1]
    if repeated:
        raise UserError(
            f"{path}: column {quote_value(repeated[0])} occurs twice in the header; expected every"
            " column once. Remove or rename one of them."
        )
    missing = [name for name in columns if name not in header]
    if missing:
        nearest = get_close_matches(missing[0], header, n=1, cutoff=0.7)
        question = f" (did you rename it to {quote_value(nearest[0])}?)" if nearest else ""
        raise UserError(
            f"{path}: missing column{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
            f"{question}; found {len(header)} columns: {quote_value(', '.join(header))}. Add the"
            " column (from another file by `table.merge(other, on=...)` of pandas), or use the file"
            f" as it was published.{hint}"
        )


def check_unique(
    path: Path, values: Column, remedy: str = "Remove repeated rows, or give each its own."
) -> None:
    """Require that no value is blank or occurs twice; `values` is a column of a frame read here.

    Raises:
        UserError: with a line for each blank value, and for each repeated one with all of its rows.
    """
    text = values.astype("str").str.strip()
    problems = [
        f"{describe_cell(path, row, values.name)}: blank; expected an id. Give every row its own."
        for row in text.index[text == ""]
    ]
    for value, rows in text[find_repeated(text)].groupby(text, sort=False).groups.items():
        all_rows = ", ".join(map(str, text.index[text == value]))
        problems.append(
            f"{describe_cell(path, rows[0], values.name)}: {quote_value(str(value))} is in rows"
            f" {all_rows}; expected every {values.name} once. {remedy}"
        )
    _raise_problems(path, problems)


def find_repeated(ids: Column) -> "pd.Series[bool]":
    """Return which ids repeat an earlier one."""
    text = ids.astype("str").str.strip()
    return text.duplicated() & (text != "")


def check_values(
    path: Path, values: Column, allowed_values: Sequence[object], remedy: str = "Correct the row."
) -> None:
    """Require that every value is allowed.

    "" must be among the allowed values if a blank has a meaning.
    """
    expected_values = ", ".join("blank" if value == "" else str(value) for value in allowed_values)
    refuse_values(
        path, values, ~values.isin(list(allowed_values)), f"one of: {expected_values}", remedy
    )


def refuse_values(
    path: Path,
    values: Column,
    is_wrong: "pd.Series[bool]",
    expected: str,
    remedy: str = "Correct the row.",
) -> None:
    """Raise `UserError` with a line for each wrong value of a column, if there is any."""
    if not is_wrong.any():
        return
    summary = f" ({is_wrong.sum()} of {len(values)} rows are wrong)" if len(values) > 1 else ""
    wrong_values = values[is_wrong.to_numpy()]
    complaints = dict.fromkeys(
        f"{describe_cell(path, row, values.name)}: found {quote_value(value)}"
        for row, value in wrong_values.items()
    )
    _raise_problems(
        path, [f"{place}, expected {expected}{summary}. {remedy}" for place in complaints]
    )


def _raise_problems(path: Path, problems: Sequence[str]) -> None:
    """Raise `UserError` with a line for each problem, or for the first ones of many."""
    if problems:
        remainder = (
            [f"{path}: and {len(problems) - _MAX_PROBLEMS} more."]
            if len(problems) > _MAX_PROBLEMS
            else []
        )
        raise UserError("\n".join([*problems[:_MAX_PROBLEMS], *remainder]))


def parse_whole_numbers(
    path: Path, values: Column, *, allows_blank: bool = False, minimum: int | None = None
) -> Column:
    """Return the column as Int64.

    A blank becomes missing if `allows_blank` allows it, and is an error otherwise.
    """
    text = values.map(canonical_word)  # 1.0 is 1
    is_number = text.str.fullmatch(r"[+-]?[0-9]{1,18}")
    numbers = text.where(is_number).astype("Int64")
    is_valid = is_number | (text == "") if allows_blank else is_number
    if minimum is not None:
        is_valid &= (numbers >= minimum).fillna(value=True)
    expected = (
        "a whole number"
        + ("" if minimum is None else f" of at least {minimum}")
        + " or blank" * allows_blank
    )
    refuse_values(path, values, ~is_valid, expected)
    return numbers


def parse_booleans(path: Path, values: Column) -> Column:
    """Return the column as bool, from True and False in any case."""
    folded = values.str.strip().str.lower()
    check_values(
        path, values.where(~folded.isin(["true", "false"]), folded.str.title()), ["True", "False"]
    )
    return folded == "true"


def describe_cell(path: Path, row: object, column: object) -> str:
    """Describe a cell's place in a table, for messages."""
    return f"{path}: row {row}, column '{column}'"


def leave_out(
    faults: Sequence[str],
    left_out: int,
    total: int,
    share: float,
    remedy: str,
    noun: str = "debates",
    *,
    is_minimum: bool = False,
) -> None:
    """Warn of the faults of the debates that are left out.

    Args:
        faults: a message for each fault.
        left_out: the number of debates with faults.
        total: the number of all debates.
        share: the largest share of debates that may be left out, 0 to 1.
        remedy: what the user can do.
        noun: the unit that is counted.
        is_minimum: whether not all debates with faults are counted.

    Raises:
        UserError: more than this share is left out; the message lists the first faults.
    """
    if left_out > share * total:
        count_message = (
            f"{'at least ' if is_minimum else ''}{left_out} of {total} {noun} cannot be read;"
            f" expected at most {share:.0%} of them (`faulty`). "
        )
        lines = list(faults[:_MAX_PROBLEMS])
        if len(faults) > _MAX_PROBLEMS:
            lines.append(f"... and {len(faults) - _MAX_PROBLEMS} more.")
        raise UserError("\n".join([*lines, count_message + remedy]))
    for fault in faults:
        LOG.warning("left out: %s", fault)


class RowChecker:
    """Collects the faults of rows, and removes the debates with faults if they are few.

    Attributes:
        files: the files of the table.
        faults: the faults that are not reported yet.
        noun: what a row or a group of rows is called in messages: "debates" or "answers".
    """

    def __init__(self, files: Sequence[Path], max_share: float, noun: str) -> None:
        self.files, self.faults, self.noun = files, Faults(), noun
        self._max_share = max_share
        self._faulty_rows = set[tuple[int, int]]()
        self._left_out = 0

    def refuse(
        self,
        values: Column,
        is_faulty: "pd.Series[bool]",
        expected: str,
        remedy: str = "Correct the row.",
    ) -> None:
        """Note each faulty value of a column."""
        faulty_files = list(is_faulty.index[is_faulty].get_level_values(0).unique())
        if not faulty_files:
            return
        self._faulty_rows |= set(is_faulty.index[is_faulty])
        first = faulty_files[0]
        with self.faults.noting():
            refuse_values(
                self.files[first], values.xs(first), is_faulty.xs(first), expected, remedy
            )
        if len(faulty_files) > 1:
            folder = self.files[first].parent
            self.faults.add(f"{folder}: {len(faulty_files) - 1} more files have the same fault.")

    def without_faulty(self, rows: pd.DataFrame, total: int) -> pd.DataFrame:
        """Return the rows of the debates without a fault.

        Args:
            rows: the rows of all debates that are not left out yet.
            total: the number of debates that were read.

        Raises:
            UserError: the share of debates with a fault exceeds the option `faulty`.
        """
        faulty_debates = rows.loc[rows.index.isin(self._faulty_rows), "(debate)"].unique()
        self._left_out += len(faulty_debates)
        leave_out(
            self.faults.messages,
            self._left_out,
            total,
            self._max_share,
            "Correct the files, or allow more.",
            self.noun,
        )
        self.faults = Faults()
        return rows[~rows["(debate)"].isin(faulty_debates)] if len(faulty_debates) else rows


def read_usable_rows(
    path: Path,
    read: Callable[[Faults], pd.DataFrame],
    check: Callable[[pd.DataFrame], object],
    share: float,
    cleaning: dict[str, int],
    *,
    unique: str = "",
) -> pd.DataFrame:
    """Read a file and leave out the rows with a fault.

    Args:
        path: the file, for messages.
        read: reads the file; rows that cannot be read are noted in its argument and left out.
        check: raises `UserError` if one of the rows that it gets has a fault.
        share: the largest share of rows that may be left out, 0 to 1.
        cleaning: the loader's counts; the number of rows that are left out is added to them.
        unique: a column whose values may not repeat or be blank.

    Returns:
        The rows without a fault, with their numbers in the file as index.

    Raises:
        UserError: more rows than this share have a fault. If they are many, only some are counted.
    """
    faults = Faults()
    table = read(faults)
    broken = len(faults.messages)
    is_usable = pd.Series(True, index=table.index)
    if unique:
        ids = table[unique].astype("str").str.strip()
        with faults.noting():
            check_unique(path, ids)
        is_usable &= (ids != "") & ~find_repeated(ids)
    left_out, total = broken + int((~is_usable).sum()), len(table) + broken
    limit = max(share * total, _MAX_COUNTED_ROWS)
    for row, message in _iter_faults(table[is_usable], check):
        faults.add(message)
        is_usable[row] = False
        left_out += 1
        if left_out > limit:
            break
    if left_out:
        is_minimum = left_out > limit
        leave_out(
            faults.messages,
            left_out,
            total,
            share,
            "Correct them, or allow more.",
            "rows",
            is_minimum=is_minimum,
        )
        cleaning[LEFT_OUT] = cleaning.get(LEFT_OUT, 0) + left_out
    return table[is_usable]


def _iter_faults(
    table: pd.DataFrame, check: Callable[[pd.DataFrame], object]
) -> Iterator[tuple[int, str]]:
    """Yield the rows with a fault, each with its message; they are found by halving the table."""
    if table.empty:
        return
    try:
        check(table)
    except UserError as fault:
        if len(table) == 1:
            yield table.index[0], str(fault)
            return
        middle = len(table) // 2
        yield from _iter_faults(table[:middle], check)
        yield from _iter_faults(table[middle:], check)
