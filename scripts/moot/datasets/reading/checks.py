"""The checks of tables of users: each fault has file, row, column, found, expected and remedy.

All functions raise `UserError` with one message that has a line for each fault.
"""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from os.path import commonpath
from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import Field

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.spelling import canonical_word
from moot.core.text_files import GZIP, quote_value
from moot.core.types import Column

LEFT_OUT = "rows left out because of faults"
SHEETS = (".csv", ".tsv", ".xlsx", ".xlsm")
"""The endings of files whose rows a spreadsheet numbers otherwise."""
ROW_NUMBERS = "Row 1 is the first row below the heading; a spreadsheet calls it row 2."
_MAX_MESSAGES = 20
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


class DataFaults(Faults):
    """The faults of data, which may be as many as its rows."""

    @property
    def text(self) -> str:
        """The first faults, a line each, and the number of the others."""
        messages = self.messages
        lines = messages[:_MAX_MESSAGES]
        if len(messages) > _MAX_MESSAGES:
            lines.append(f"... and {len(messages) - _MAX_MESSAGES} more.")
        return "\n".join(lines)


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
    text, faults = values.astype("str").str.strip(), DataFaults()
    for row in text.index[text == ""]:
        place = describe_cell(path, row, values.name)
        faults.add(f"{place}: blank; expected an id. Give every row its own.")
    for value, rows in text[find_repeated(text)].groupby(text, sort=False).groups.items():
        all_rows = ", ".join(map(str, text.index[text == value]))
        faults.add(
            f"{describe_cell(path, rows[0], values.name)}: {quote_value(str(value))} is in rows"
            f" {all_rows}; expected every {values.name} once. {remedy}"
        )
    faults.check()


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
    faults = DataFaults()
    for row, value in values[is_wrong.to_numpy()].items():
        place = describe_cell(path, row, values.name)
        faults.add(f"{place}: found {quote_value(value)}, expected {expected}{summary}. {remedy}")
    faults.check()


def run_checks(*checks: Callable[[], object]) -> None:
    """Run all checks of a file, and raise one `UserError` with the faults that they raise."""
    faults = DataFaults()
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
    numbers = read_whole_numbers(values)
    is_valid = numbers.notna() | (allows_blank & (values.str.strip() == ""))
    if minimum is not None:
        is_valid &= (numbers >= minimum).fillna(value=True)
    expected = (
        "a whole number"
        + ("" if minimum is None else f" of at least {minimum}")
        + " or blank" * allows_blank
    )
    refuse_values(path, values, ~is_valid, expected)
    return numbers


def read_whole_numbers(values: Column) -> Column:
    """Return the column as Int64. 1.0 is read as 1; other values become missing."""
    # A survey repeats a few codes in thousands of rows: each is read once.
    words = pd.Series({value: canonical_word(value) for value in values.unique()}, dtype="str")
    is_number = words.str.fullmatch(r"[+-]?[0-9]{1,18}")
    return values.map(words.where(is_number).astype("Int64")).astype("Int64")


def parse_booleans(path: Path, values: Column) -> Column:
    """Return the column as bool, from True and False in any case."""
    folded = values.str.strip().str.lower()
    check_values(
        path, values.where(~folded.isin(["true", "false"]), folded.str.title()), ["True", "False"]
    )
    return folded == "true"


def explain_row_numbers(path: Path) -> str:
    """Return how messages count rows, or "" if no spreadsheet counts them otherwise."""
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
        broken: the number of rows that cannot be read.
        noun: what a row or a group of rows is called in messages: "rows", "debates", "answers".
    """

    def __init__(self, files: Sequence[Path], max_share: float, noun: str) -> None:
        self.files, self.faults, self.noun = files, DataFaults(), noun
        self.broken = 0
        self._max_share = max_share
        self._faulty_rows = set[tuple[int, int]]()

    def read(self, read_file: Callable[[Path], pd.DataFrame]) -> pd.DataFrame:
        """Return the rows of all files; those that cannot be read are counted.

        `read_file` notes the latter in `faults`, a message each.

        Raises:
            UserError: files that cannot be read; the message lists all of them.
        """
        file_faults, tables = DataFaults(), dict[int, pd.DataFrame]()
        for number, path in enumerate(self.files):
            with file_faults.noting():
                tables[number] = read_file(path)
        file_faults.check()
        self.broken = len(self.faults.messages)
        return pd.concat(tables, names=["file", "row"])

    def refuse(
        self,
        values: Column,
        is_faulty: "pd.Series[bool]",
        expected: str,
        remedy: str = "Correct the row.",
    ) -> None:
        """Note each faulty value of a column."""
        self._faulty_rows |= set(is_faulty.index[is_faulty])
        for number in is_faulty.index[is_faulty].get_level_values(0).unique():
            # turns of one record have one number, so that rows are told apart by their order alone
            is_wrong = is_faulty.xs(number)
            with self.faults.noting():
                refuse_values(self.files[number], values.xs(number), is_wrong, expected, remedy)

    def refuse_repeated(self, ids: Column) -> None:
        """Note blank ids, and each that is in an earlier row, too."""
        text = ids.str.strip()
        names = [
            f"{row} of {self.files[number].name}" if len(self.files) > 1 else str(row)
            for number, row in text.index
        ]
        place = Path(commonpath(self.files))  # the file, or the folder of several
        with self.faults.noting():
            check_unique(place, text.set_axis(names))
        self._faulty_rows |= set(text.index[(text == "") | find_repeated(text)])

    @property
    def lines(self) -> list[str]:
        """The messages, a line each."""
        return self.faults.text.splitlines()

    def without_faulty(self, rows: pd.DataFrame, *, group: str = "") -> pd.DataFrame:
        """Return the rows without a fault.

        Args:
            rows: all rows that can be read.
            group: the column of groups of rows that stand or fall together. Default: single rows.

        Raises:
            UserError: the share of groups with a fault exceeds the option `faulty`.
        """
        groups = rows[group] if group else pd.Series(range(len(rows)), rows.index)
        faulty_groups = groups[groups.index.isin(self._faulty_rows)].unique()
        left_out, total = len(faulty_groups) + self.broken, groups.nunique() + self.broken
        if left_out > self._max_share * total:
            summary = (
                f"{left_out} of {total} {self.noun} cannot be read; expected at most"
                f" {self._max_share:.0%} of them (`faulty` of the data set). Correct them,"
                " or allow more."
                f" {explain_row_numbers(self.files[0])}"
            )
            raise UserError(f"{self.faults.text}\n{summary.strip()}")
        return rows[~groups.isin(faulty_groups)]
