"""Collects the faults of the rows of debates, and leaves out debates with faults."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from moot.core.config_errors import Faults
from moot.core.types import Column
from moot.datasets.reading.checks import leave_out, refuse_values


class TurnChecker:
    """Collects the faults of rows, and removes the debates with faults if they are few.

    Attributes:
        files: the files of the table.
        faults: the faults that are not reported yet.
        noun: what a row or a group of rows is called in messages: "debates" or "answers".
        unreadable: the number of files and rows that cannot be read.
    """

    def __init__(self, files: Sequence[Path], max_share: float, noun: str) -> None:
        self.files, self.faults, self.noun = files, Faults(), noun
        self._max_share = max_share
        self._faulty_rows = set[tuple[int, int]]()
        self._left_out = 0
        self.unreadable = 0

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
            self.unreadable + self._left_out,
            total + self.unreadable,
            self._max_share,
            "Correct the files, or allow more.",
            self.noun,
        )
        self.faults = Faults()
        return rows[~rows["(debate)"].isin(faulty_debates)] if len(faulty_debates) else rows
