"""The checks of tables of users: each fault has file, row, column, found, expected and remedy.

All functions raise `UserError` with one message that has a line for each fault.
"""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import Field

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.core.spelling import canonical_word
from moot.core.text_files import GZIP, quote_value
from moot.core.types import Column

LEFT_OUT = "rows left out because of faults"
SHEETS = (".csv", ".tsv", ".xlsx", ".xlsm")
"""The endings of files whose rows a spreadsheet numbers otherwise."""
ROW_NUMBERS = "Row 1 is the first row below the heading; a spreadsheet calls it row 2."
_MAX_PROBLEMS = 20
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


def run_checks(*checks: Callable[[], object]) -> None:
    """Run all checks of a file, and raise one `UserError` with the faults that they raise."""
    faults = Faults()
    for check in checks:
        with faults.noting():
            check()
    faults.check()


def parse_whole_numbers(
    path: Path, values: Column, *, allows_blank: bool = False, minimum: int | None = None
) -> Column:
    """Return the column as Int64.

    A blank becomes missing if `allows_blank` allows it, and is an error otherwise.
    """
    # A survey repeats a few codes in thousands of rows: each is read once.
    words = pd.Series({value: canonical_word(value) for value in values.unique()}, dtype="str")
    is_number = words.str.fullmatch(r"[+-]?[0-9]{1,18}")  # 1.0 is 1
    numbers = values.map(words.where(is_number).astype("Int64")).astype("Int64")
    is_valid = values.map(is_number | (words == "") if allows_blank else is_number).astype("bool")
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


def explain_row_numbers(path: Path) -> str:
    """Return how messages count the rows of a file; "" if no spreadsheet counts them
    otherwise.
    """
    is_sheet = path.name.casefold().removesuffix(GZIP).endswith(SHEETS)
    return ROW_NUMBERS if is_sheet else ""


def describe_cell(path: Path, row: object, column: object) -> str:
    """Describe a cell's place in a table, for messages."""
    return f"{path}: row {row}, column '{column}'"


class RowChecker:
    """Notes the faulty rows of a user's files, and leaves them out if they are few.

    Rows are indexed by the number of the file and the row.

    Attributes:
        files: the files of the table.
        faults: the messages.
        noun: what a row or a group of rows is called in messages: "rows", "debates", "answers".
    """

    def __init__(self, files: Sequence[Path], max_share: float, noun: str) -> None:
        self.files, self.faults, self.noun = files, Faults(), noun
        self._max_share = max_share
        self._faulty_rows = set[tuple[int, int]]()

    def refuse(
        self,
        values: Column,
        is_faulty: "pd.Series[bool]",
        expected: str,
        remedy: str = "Correct the row.",
    ) -> None:
        """Note each faulty value of a column."""
        self._faulty_rows |= set(is_faulty.index[is_faulty])
        for number, faulty_values in values[is_faulty].groupby(level=0, sort=False):
            file_values = values.xs(number)
            is_wrong = file_values.index.isin(faulty_values.index.get_level_values(1))
            with self.faults.noting():
                refuse_values(
                    self.files[int(str(number))],
                    file_values,
                    pd.Series(is_wrong, file_values.index),
                    expected,
                    remedy,
                )

    def refuse_repeated(self, ids: Column) -> None:
        """Note blank ids, and each that is in an earlier row, too."""
        text = ids.str.strip()
        names = [
            f"{row} of {self.files[number].name}" if len(self.files) > 1 else str(row)
            for number, row in text.index
        ]
        with self.faults.noting():
            check_unique(self.files[0], text.set_axis(names))
        self._faulty_rows |= set(text.index[(text == "") | find_repeated(text)])

    def without_faulty(
        self, rows: pd.DataFrame, *, group: str = "", broken: int = 0
    ) -> pd.DataFrame:
        """Return the rows without a fault, and warn of the others.

        Args:
            rows: all rows that can be read.
            group: the column of groups of rows that stand or fall together. Default: single rows.
            broken: the number of further rows, which cannot be read.

        Raises:
            UserError: the share of groups with a fault exceeds the option `faulty`.
        """
        groups = rows[group] if group else pd.Series(range(len(rows)), rows.index)
        faulty_groups = groups[groups.index.isin(self._faulty_rows)].unique()
        left_out, total = len(faulty_groups) + broken, groups.nunique() + broken
        messages = self.faults.messages
        if left_out > self._max_share * total:
            lines = messages[:_MAX_PROBLEMS]
            if len(messages) > _MAX_PROBLEMS:
                lines.append(f"... and {len(messages) - _MAX_PROBLEMS} more.")
            lines.append(
                f"{left_out} of {total} {self.noun} cannot be read; expected at most"
                f" {self._max_share:.0%} of them (`faulty`). Correct them, or allow more."
            )
            lines[-1] = f"{lines[-1]} {explain_row_numbers(self.files[0])}".strip()
            raise UserError("\n".join(lines))
        for message in messages:
            LOG.warning("left out: %s", message)
        return rows[~groups.isin(faulty_groups)]
