"""Natural order of names, in which numbers count as numbers: D1, D2, ..., D10."""

import re

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(name: str) -> tuple[tuple[str | int, ...], str]:
    """Return the key by which names sort naturally.

    >>> sorted(["D10", "D2", "d1", "D1"], key=natural_key)
    ['D1', 'd1', 'D2', 'D10']
    """
    parts: list[str | int] = list(_DIGITS.split(name.casefold()))
    parts[1::2] = map(int, parts[1::2])
    return tuple(parts), name
