"""Printed examples of statistics, and how moot computes them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Example(NamedTuple):
    """A printed number or interval, and how moot computes it."""

    source: str
    name: str
    compute: Callable[[], float | Sequence[float]]
    printed: float | Sequence[float]
    tolerance: float = 5e-5
