"""Check each row of a large table within one test: a test for each takes longer than the row."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Row = TypeVar("Row")


def check_each(rows: Iterable[Row], check: Callable[[Row], None]) -> None:
    """Check all rows, and fail with the message of each row that fails.

    Args:
        rows: at least one.
        check: raises `AssertionError` for a row.
    """
    failures, count = [], 0
    for row in rows:
        count += 1
        try:
            check(row)
        except AssertionError as failure:
            failures.append(f"{row!r}: {failure}")
    assert count, "no rows"
    assert not failures, f"{len(failures)} of {count} rows:\n" + "\n".join(failures)
