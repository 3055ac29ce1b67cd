"""The text of a cell: equal values have equal texts in all file formats."""

import json
import math
from collections.abc import Callable, Sequence
from datetime import datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

_MAX_EXACT_FLOAT = 2.0**53
"""The largest float up to which all whole numbers are exact."""


def cell_text(value: object) -> str:
    """Return the text of a value: "" if missing, `true` or `false`, 3 for 3.0, JSON if nested.

    Raises:
        UnicodeDecodeError: the value holds bytes that are not UTF-8.
    """
    for types, as_text in _TEXT_OF_TYPES:
        if isinstance(value, types):
            return as_text(value)
    return "" if value is None or value is pd.NA else str(value)


def _float_text(value: Any) -> str:
    number = float(value)
    if math.isnan(number):
        return ""
    if math.isfinite(number) and number.is_integer() and abs(number) < _MAX_EXACT_FLOAT:
        return str(int(number))
    return str(value)


def _plain_part(value: object) -> object:
    """Return a part of a nested value that JSON has no form for."""
    return value.tolist() if isinstance(value, np.ndarray) else cell_text(value)


def _nested_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain_part)


def _time_text(value: Any) -> str:
    """Return a date and time; midnight is a date alone."""
    if value is pd.NaT:
        return ""
    is_date = value.tzinfo is None and value.time() == time.min
    return str(value.date() if is_date else value.isoformat(sep=" "))


_TEXT_OF_TYPES: Sequence[tuple[tuple[type, ...], Callable[[Any], str]]] = (
    ((str,), str),
    ((dict, list, tuple, np.ndarray), _nested_text),
    ((bool, np.bool_), lambda value: str(bool(value)).lower()),
    ((bytes,), bytes.decode),
    ((float, np.floating), _float_text),
    ((Decimal,), lambda value: f"{value:f}"),
    ((datetime, type(pd.NaT)), _time_text),
)
"""The function that writes a value of each type; other values are written by `str`."""
