"""The table that `snakemake preview` prints."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pandas as pd

from moot.core.amount_text import LESS_THAN, amount_text, dollars_text

UNKNOWN = "unknown"
NOTE = (
    'Generated tokens and dollars "at most" are maxima. Likely dollars follow from stored replies\n'
    "of the same kind, else from data/published/reply_lengths.csv. A model without price is free.\n"
    "Hours follow from each model's speed (measured on stored replies), its concurrency and its\n"
    "limits, one experiment after the other.\n"
)
ESTIMATE_MARK = "~"
ESTIMATE_NOTE = (
    f"{ESTIMATE_MARK}: an estimate, from the model's speed on one quiet core of another machine.\n"
)
NOTHING_LEFT = "No call is left: the ledger has all replies.\n"


class PrintedColumn(NamedTuple):
    """A column as it is printed; a column without a value is left out.

    Attributes:
        name: Its name in the frame.
        heading: Its heading, of one or two lines.
        format: Converts a value that is not missing to text. Text itself is aligned to the left.
    """

    name: str
    heading: str
    format: Callable[[float], str]


def _format_count(value: float) -> str:
    return f"{value:,.0f}"


def _format_hours(value: float) -> str:
    return amount_text(value, 1)


COLUMNS = (
    PrintedColumn("experiment", "experiment", str),
    PrintedColumn("model", "model", str),
    PrintedColumn("debates", "debates", _format_count),
    PrintedColumn("calls_in_ledger", "calls\nstored", _format_count),
    PrintedColumn("calls_to_make", "calls\nto make", _format_count),
    PrintedColumn("prompt_tokens", "tokens\nread", _format_count),
    PrintedColumn("completion_tokens", "tokens\nwritten", _format_count),
    PrintedColumn("usd_likely", "likely\ndollars", dollars_text),
    PrintedColumn("usd", "dollars\nat most", dollars_text),
    PrintedColumn("hours", "hours", _format_hours),
    PrintedColumn("waves", "waves", _format_count),
    PrintedColumn("answers_by_people", "answers\nby people", _format_count),
    PrintedColumn("needs", "to be built first", str),
)


def preview_text(frame: pd.DataFrame) -> str:
    """Return a preview as a table for a terminal, with its notes.

    Args:
        frame: The preview: one row an experiment and model, then the total.
    """
    columns = [column for column in COLUMNS if _is_printed(column, frame)]
    texts = [_column_texts(column, frame) for column in columns]
    rows = list(zip(*texts, strict=True))
    headings = [column.heading.split("\n") for column in columns]
    head_lines = list(zip(*([""] * (2 - len(lines)) + lines for lines in headings), strict=True))
    widths = [max(map(len, cells)) for cells in zip(*head_lines, *rows, strict=True)]
    rule = "  ".join("-" * width for width in widths)
    lines = [_line(cells, widths, columns) for cells in head_lines]
    lines += [rule, *(_line(cells, widths, columns) for cells in rows[:-1])]
    lines += [rule, _line(rows[-1], widths, columns)]
    total = frame.iloc[-1]
    is_complete = not total["calls_to_make"] and not frame["needs"].astype(bool).any()
    notes = NOTHING_LEFT if is_complete else NOTE
    if any(ESTIMATE_MARK in text for text in _hours_texts(frame)):
        notes += ESTIMATE_NOTE
    return "\n".join(lines) + f"\n\n{notes}"


def _is_printed(column: PrintedColumn, frame: pd.DataFrame) -> bool:
    values = frame[column.name]
    return bool((values.notna() & (values.astype(str) != "")).any())


def _column_texts(column: PrintedColumn, frame: pd.DataFrame) -> list[str]:
    if column.name == "hours":
        return _hours_texts(frame)
    return ["" if pd.isna(value) else column.format(value) for value in frame[column.name]]


def _hours_texts(frame: pd.DataFrame) -> list[str]:
    """Return the hours of each row; the total says where it leaves out unknown ones.

    A tilde marks hours that rest on a model's typical speed. A bound has no mark.
    """
    rows = []
    for hours, has_typical_speed in zip(frame["hours"], frame["has_typical_speed"], strict=True):
        text = UNKNOWN if math.isnan(hours) else _format_hours(hours)
        has_mark = has_typical_speed and hours > 0 and not text.startswith(LESS_THAN)
        rows.append(f"{ESTIMATE_MARK}{text}" if has_mark else text)
    total = rows[-1]
    if UNKNOWN in rows[:-1]:
        says_nothing = total.startswith(LESS_THAN) or not frame["hours"].iloc[-1]
        total = UNKNOWN if says_nothing else f"at least {total}"
    return [*rows[:-1], total]


def _line(cells: Sequence[str], widths: Sequence[int], columns: Sequence[PrintedColumn]) -> str:
    padded = [
        cell.ljust(width) if column.format is str else cell.rjust(width)
        for cell, width, column in zip(cells, widths, columns, strict=True)
    ]
    return "  ".join(padded).rstrip()
