"""The columns of a table, from which its CSV, Excel, LaTeX and HTML files are laid out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pandas as pd

from moot.core.types import Fields, JsonObject
from moot.report.content import Column, TableContent

KEY, OURS, PUBLISHED, DIFFERENCE = "key", "ours", "published", "difference"
SIGNED = "+.3f"
Row: TypeAlias = JsonObject
"""The cells of a row by column name; an estimate is `(value, low, high)`."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table; each method returns them with more columns at the right."""

    columns: tuple[Column, ...] = ()

    def plain(self, *names: str, role: str = "", digits: str = "") -> "Columns":
        """Add columns, by default without a role."""
        return Columns((*self.columns, *(Column(name, role, digits) for name in names)))

    def keys(self, *names: str) -> "Columns":
        """Add key columns, whose repeated values are shown once."""
        return self.plain(*names, role=KEY)

    def ours(self, *names: str, digits: str = "") -> "Columns":
        """Add columns of values that this run measured."""
        return self.plain(*names, role=OURS, digits=digits)

    def published(self, *names: str, digits: str = "") -> "Columns":
        """Add columns of published values."""
        return self.plain(*names, role=PUBLISHED, digits=digits)

    def difference(self, *names: str) -> "Columns":
        """Add columns of differences between measured and published values."""
        return self.plain(*names, role=DIFFERENCE, digits=SIGNED)

    def counts(self, *names: str) -> "Columns":
        """Add columns of integers, which may be missing."""
        return self.plain(*names, digits="d")

    def interval(
        self, of: str = "95 %", heading: str = "", role: str = OURS, digits: str = ""
    ) -> "Columns":
        """Add an interval, shown as one column; the frame holds `{of} low` and `{of} high`."""
        heading = heading or ("95 % interval" if of == "95 %" else f"{of}, 95 % interval")
        return Columns(
            (*self.columns, Column(heading, role, digits, ends=(f"{of} low", f"{of} high")))
        )

    def estimate(
        self, name: str, of: str = "95 %", heading: str = "", role: str = OURS, digits: str = ""
    ) -> "Columns":
        """Add a value and its interval."""
        return self.plain(name, role=role, digits=digits).interval(of, heading, role)

    def table(
        self, rows: Iterable[Fields], notes: Sequence[str] = (), exploratory: bool = False
    ) -> TableContent:
        """Return the table of these columns.

        Args:
            rows: each a `Row`; what no column shows is left out.
            notes: sentences under the table.
            exploratory: whether it holds tests that were not planned.
        """
        names: list[str] = []
        ends: dict[str, tuple[str, ...]] = {}
        for column in self.columns:
            if column.ends and names:
                ends[names[-1]] = column.ends
            names += column.names
        frame = pd.DataFrame([_flat_row(row, ends) for row in rows], columns=names)
        integer_columns = {column.name: "Int64" for column in self.columns if column.digits == "d"}
        return TableContent(frame.astype(integer_columns), self.columns, notes, exploratory)


def _flat_row(row: Fields, ends: Mapping[str, tuple[str, ...]]) -> Row:
    """Return a row with each estimate as a value and the two ends of its interval."""
    cells: Row = {}
    for name, value in row.items():
        if isinstance(value, tuple):
            number, low, high = value
            cells |= {name: number} | dict(zip(ends[name], (low, high), strict=True))
        else:
            cells[name] = value
    return cells
