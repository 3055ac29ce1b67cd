"""The text that models read for a row of a user's table."""

from collections.abc import Mapping

import pandas as pd

from moot.core.log import LOG
from moot.core.text_files import quote_value
from moot.datasets.table_options import TableOptions

MISSING_WORDS = {
    *("NaN", "nan", "NaT", "<NA>"),
    *("#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!"),
}
"""What programs write for a missing value, or for the failed result of a formula.

Words that people write, too (N/A, null, NA, None), are labels and texts.
"""
_BLANK_PARTS = "cells left out of texts as missing (NaN, #N/A)"


def make_text(options: TableOptions, cells: Mapping[str, str]) -> str:
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


def count_blank_parts(options: TableOptions, table: pd.DataFrame) -> dict[str, int]:
    """Return how many cells of usable rows are left out of the texts; name them in the log."""
    counts: dict[str, int] = {}
    for name in options.text_columns:
        cells = table[name].str.strip()
        blank_cells = cells[cells.isin(list(MISSING_WORDS))]
        if blank_cells.empty:
            continue
        counts[_BLANK_PARTS] = counts.get(_BLANK_PARTS, 0) + len(blank_cells)
        LOG.warning(
            "%s: column '%s': %d cells, first of row %d (%s), are missing values, and left out of"
            " the text.",
            options.path,
            name,
            len(blank_cells),
            int(blank_cells.index[0]),
            quote_value(blank_cells.iloc[0]),
        )
    return counts
