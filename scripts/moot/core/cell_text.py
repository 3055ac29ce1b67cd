"""The text of a cell: equal values have equal texts in all file formats."""

import ast
import json
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

_MAX_EXACT_FLOAT = 2.0**53
"""The largest float up to which all whole numbers are exact."""
_FLOAT = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_MAX_DOUBLE_DIGITS, _ROUNDING = 14, 1e-15
"""The minimum length of a 32-bit float's text, and its relative rounding error."""
_DATE_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_MIDNIGHT = "00:00:00"
_BYTES = re.compile(r"""b(['"]).*\1""", re.DOTALL)
_ADJACENT_TEXTS = re.compile(r"""['"]\s+['"]""")
"""Texts without a comma in numpy's output, which Python would join."""
_WHOLE_FLOAT = re.compile(r"([+-]?[0-9]+)\.0+")
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_TEXT_FORMULA = re.compile(r'="([^"]*)"')
"""A text that spreadsheets write as a formula, so that zeros in front of a number stay."""
_TRUTH_VALUES = ({"True", "False"}, {"TRUE", "FALSE"})
"""The spellings of truth values in CSV files of pandas and of spreadsheets."""


def cell_text(value: object) -> str:
    """Return the text of a value: "" if missing, `true` or `false`, 3 for 3.0, JSON if nested.

    Raises:
        UnicodeDecodeError: the value holds bytes that are not UTF-8.
    """
    if value is None or value is pd.NaT or value is pd.NA:
        return ""
    for kinds, as_text in _TEXT_OF_TYPES:
        if isinstance(value, kinds):
            return as_text(value)
    return str(value)


def arrow_texts(column: pa.ChunkedArray) -> pd.Series:
    """Return a column of Parquet as text, by its type.

    Nested values stay Python objects.

    Raises:
        UnicodeDecodeError: the column holds bytes that are not UTF-8.
    """
    kind = column.type
    if pa.types.is_nested(kind):
        return pd.Series(column.to_pylist(maps_as_pydicts="lossy"), dtype="object")
    if pa.types.is_integer(kind) or _is_string(kind) or pa.types.is_boolean(kind):
        texts = pc.fill_null(column.cast(pa.large_string()), "")
        return pd.Series(texts.to_pandas(), dtype="str")
    values: list[Any] = column.to_pylist()
    if pa.types.is_float32(kind):
        values = [None if value is None else np.float32(value) for value in values]
    elif pa.types.is_float16(kind):
        values = [None if value is None else np.float16(value) for value in values]
    return pd.Series([cell_text(value) for value in values], dtype="str")


def csv_texts(column: "pd.Series[str]") -> "pd.Series[str]":
    """Return a CSV column in the spelling of the other formats.

    The formula `="007"`, by which spreadsheets keep a text, becomes 007. In a column of floats that
    a program wrote (1.0 and 2.5), 1.0 becomes 1. Truth values become
    `true` and `false`. Bytes, lists and dictionaries printed by Python become text and JSON. Any
    other column is returned unchanged.
    """
    if any(_TEXT_FORMULA.fullmatch(value) for value in column.unique()):
        column = column.str.replace(_TEXT_FORMULA.pattern, r"\1", regex=True)
    values = set(column.unique()) - {""}
    if not values:
        return column
    if any(values <= spelling for spelling in _TRUTH_VALUES):
        return column.str.lower()
    if all(_is_written_float(value) for value in values):
        return column.map({"": "", **{value: _float_text(float(value)) for value in values}})
    return printed_texts(column)


def printed_texts(column: "pd.Series[str]") -> "pd.Series[str]":
    """Return a column of bytes, lists or dictionaries that Python printed as text and JSON.

    Any other column is returned unchanged.
    """
    values = set(column.unique()) - {""}
    texts: dict[str, str] = {"": ""}
    for value in values:
        text = _printed_text(value)
        if text is None:
            return column
        texts[value] = text
    return column.map(texts) if values else column


def _printed_text(value: str) -> str | None:
    """Return the text of bytes, a list or a dictionary that Python printed; None for any other
    text.
    """
    is_nested = value[:1] in ("[", "{") and not _ADJACENT_TEXTS.search(value)
    if not is_nested and not _BYTES.fullmatch(value):
        return None
    parsed = parse_printed(value)
    try:
        return cell_text(parsed) if isinstance(parsed, list | dict | bytes) else None
    except (ValueError, RecursionError):  # the value is too deep, or JSON has no such value
        return None


def parse_printed(text: str) -> object:
    """Return the literal that Python printed (texts, numbers, lists, dictionaries).

    None for any other text. Nothing is executed.
    """
    try:
        value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return value


def date_texts(column: "pd.Series[str]") -> "pd.Series[str]":
    """Return a column of dates and times in one spelling, and as dates if all are midnight.

    2026-01-31T14:05:00.000Z becomes 2026-01-31 14:05:00+00:00. Any other column is returned
    unchanged.
    """
    values = set(column.unique()) - {""}
    matches = {value: _DATE_TIME.fullmatch(value) for value in values}
    if not values or not all(matches.values()):
        return column
    parts = {value: match.groups(default="") for value, match in matches.items() if match}
    is_date = all(
        clock == _MIDNIGHT and not decimals.strip("0") and not zone
        for _, clock, decimals, zone in parts.values()
    )
    texts = {"": ""}
    for value, (day, clock, decimals, zone) in parts.items():
        fraction = f".{decimals}".rstrip("0").rstrip(".")
        offset = "+00:00" if zone == "Z" else zone
        texts[value] = day if is_date else f"{day} {clock}{fraction}{offset}"
    return column.map(texts)


def plain_spelling(text: str) -> str:
    """Return a text without differences that a reader cannot see.

    These are spaces around it, repeated and no-break spaces, invisible characters, and accents
    that are characters of their own.

    >>> plain_spelling(" not\u00a0\u200bguilty ")
    'not guilty'
    """
    plain = text if text.isascii() else unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    return " ".join(plain.split())


def canonical_word(word: str) -> str:
    """Return a word in its plain spelling, without the `.0` of a whole number, and truth values in
    lower case.
    """
    stripped = plain_spelling(word)
    match = _WHOLE_FLOAT.fullmatch(stripped)
    if match:
        return match[1]
    folded = stripped.casefold()
    return folded if folded in ("true", "false") else stripped


def _is_string(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_written_float(value: str) -> bool:
    """Return whether a program wrote this float in its shortest form, unlike 1.50 and 01.5."""
    return bool(_FLOAT.fullmatch(value)) and str(float(value)) == value


def _float_text(value: Any) -> str:
    if math.isnan(value):
        return ""
    number = float(value)
    if number.is_integer() and abs(number) < _MAX_EXACT_FLOAT:
        return str(int(number))
    text = str(value)
    if number.is_integer() or len(text) <= _MAX_DOUBLE_DIGITS:
        return text
    with np.errstate(over="ignore"):
        single = np.float32(number)
    is_single = abs(float(single) - number) <= _ROUNDING * abs(number)
    return str(single) if is_single else text


def _plain_value(value: object) -> object:
    """Return a nested value as JSON can write it."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): _plain_value(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(part) for part in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return _plain_number(value)
    if isinstance(value, date | datetime | time | Decimal | bytes):
        return cell_text(value)
    return str(value)


def _plain_number(value: float) -> float | int | None:
    if math.isnan(value):
        return None
    is_whole = math.isfinite(value) and value.is_integer() and abs(value) < _MAX_EXACT_FLOAT
    return int(value) if is_whole else value


def _date_text(value: datetime) -> str:
    """Return a date and time; `date_texts` shortens a column of dates."""
    return value.isoformat(sep=" ")


def _nested_text(value: object) -> str:
    return json.dumps(_plain_value(value), ensure_ascii=False)


_TEXT_OF_TYPES: Sequence[tuple[tuple[type, ...], Callable[[Any], str]]] = (
    ((str,), str),
    ((bool, np.bool_), lambda value: str(bool(value)).lower()),
    ((bytes,), bytes.decode),
    ((float, np.floating), _float_text),
    ((Decimal,), lambda value: f"{value:f}"),
    ((datetime,), _date_text),
    ((dict, list, tuple, np.ndarray), _nested_text),
)
"""The function that writes a value of each type; other values are written by `str`."""
