"""Read a published file without its faulty rows, if they are few."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.input_files import check_unique
from moot.datasets.debate_records import leave_out

LEFT_OUT = "rows left out because of faults"
_REMEDY = "Correct them, or allow more."
_MAX_COUNTED_ROWS = 100
"""The faulty rows that are counted of a file that is refused: each takes at least one check."""


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
        is_usable &= (ids != "") & ~ids.duplicated(keep=False)
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
        leave_out(faults.messages, left_out, total, share, _REMEDY, "rows", is_minimum=is_minimum)
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
