"""The columns of a table, from left to right: what CSV, Excel, LaTeX and HTML need of a table
follows from them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import pandas as pd

from moot.core.types import Fields, JsonObject
from moot.report.content import Column, TableContent

KEY, OURS, PUBLISHED, DIFFERENCE = "key", "ours", "published", "difference"
SIGNED = "+.3f"
Row: TypeAlias = JsonObject
"""What a row of a table has, by column; a tuple fills its column and those to the right of it."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of a table; each method returns these with some more to their right."""

    columns: tuple[Column, ...] = ()

    def plain(self, *names: str, role: str = "", digits: str = "") -> "Columns":
        """Columns of no role, or of the one given."""
        return Columns((*self.columns, *(Column(name, role, digits) for name in names)))

    def keys(self, *names: str) -> "Columns":
        """Columns whose repeated values are shown once."""
        return self.plain(*names, role=KEY)

    def ours(self, *names: str, digits: str = "") -> "Columns":
        """Columns with values that this run measured."""
        return self.plain(*names, role=OURS, digits=digits)

    def published(self, *names: str, digits: str = "") -> "Columns":
        """Columns with published values."""
        return self.plain(*names, role=PUBLISHED, digits=digits)

    def difference(self, *names: str, digits: str = SIGNED) -> "Columns":
        """Columns with differences between the two."""
        return self.plain(*names, role=DIFFERENCE, digits=digits)

    def counts(self, *names: str, role: str = "") -> "Columns":
        """Columns with whole numbers, missing ones allowed."""
        return Columns((*self.columns, *(Column(name, role, is_integer=True) for name in names)))

    def interval(
        self, of: str = "95 %", heading: str = "", role: str = OURS, digits: str = ""
    ) -> "Columns":
        """An interval, shown as one column; the frame has its ends, `{of} low` and `{of} high`."""
        heading = heading or ("95 % interval" if of == "95 %" else f"{of}, 95 % interval")
        return Columns(
            (*self.columns, Column(heading, role, digits, ends=(f"{of} low", f"{of} high")))
        )

    def estimate(
        self, name: str, of: str = "95 %", heading: str = "", role: str = OURS, digits: str = ""
    ) -> "Columns":
        """A value and, beside it, its interval."""
        return self.plain(name, role=role, digits=digits).interval(of, heading, role)

    def join(self, others: "Columns") -> "Columns":
        """Columns that several tables share."""
        return Columns((*self.columns, *others.columns))

    def short_form(self, *headings: str) -> "Columns":
        """These columns, of which the short form of a table has those named alone: what a page of a
        paper holds.

                Raises:
                    ValueError: a heading is not among them.
        """
        if unknown := set(headings) - {column.name for column in self.columns}:
            raise ValueError(f"no column {', '.join(sorted(unknown))}")
        return Columns(
            tuple(replace(column, in_short_form=column.name in headings) for column in self.columns)
        )

    def table(
        self, rows: Iterable[Fields], notes: Sequence[str] = (), exploratory: bool = False
    ) -> TableContent:
        """The table of these columns.

        Args:
            rows: each a `Row`; what no column shows is left out.
            notes: sentences under the table.
            exploratory: whether it holds tests that were not planned.
        """
        names = [name for column in self.columns for name in column.names]
        frame = pd.DataFrame([_spread(row, names) for row in rows], columns=names)
        whole = {column.name: "Int64" for column in self.columns if column.is_integer}
        return TableContent(frame.astype(whole), self.columns, notes, exploratory)


NO_COLUMNS = Columns()


def _spread(row: Fields, names: Sequence[str]) -> Row:
    """A row with each tuple's values in columns of their own; what no column shows is left out."""
    cells: Row = {}
    for name, value in row.items():
        some = value if isinstance(value, tuple) else (value,)
        if name in names:
            at = names.index(name)
            cells |= dict(zip(names[at : at + len(some)], some, strict=True))
    return cells
