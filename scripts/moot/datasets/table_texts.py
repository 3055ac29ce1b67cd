"""The text that models read for a row of a user's table."""

from collections.abc import Hashable, Mapping

import pandas as pd

from moot.datasets.table_options import TableOptions

MISSING_WORDS = {
    *("NaN", "nan", "NaT", "<NA>"),
    *("#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!"),
}
"""What programs write for a missing value, or for the failed result of a formula.

Words that people write, too (N/A, null, NA, None), are labels and texts.
"""
BLANK_PARTS = "cells left out of texts as missing (NaN, #N/A)"


def make_text(options: TableOptions, cells: Mapping[Hashable, str]) -> str:
    """Return the text that models read for a row; "" if its columns are blank."""
    parts = {name: _read_part(cells[name]) for name in options.text_columns}
    if not isinstance(options.text, str):
        sentences = [
            f"{name.replace('_', ' ')}: {part.rstrip('.')}." for name, part in parts.items() if part
        ]
        return " ".join(sentences)
    if options.text_columns == [options.text]:
        text = cells[options.text].strip()
        return "" if text in MISSING_WORDS else text
    return options.text.format(**parts).strip() if any(parts.values()) else ""


def _read_part(cell: str) -> str:
    """Return the text of a cell on one line; "" for what programs write for a missing value."""
    text = " ".join(cell.split())
    return "" if text in MISSING_WORDS else text


def count_blank_parts(options: TableOptions, rows: pd.DataFrame) -> int:
    """Return how many cells of usable rows are left out of the texts as missing."""
    cells = rows[options.text_columns].apply(lambda column: column.str.strip())
    return int(cells.isin(list(MISSING_WORDS)).sum().sum())
