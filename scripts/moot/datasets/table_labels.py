"""The labels of a user's table."""

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from moot.core.errors import UserError
from moot.core.spelling import canonical_word
from moot.core.text_files import quote_value
from moot.datasets.table_options import TableOptions
from moot.datasets.table_texts import MISSING_WORDS

_MAX_LABELS = 50
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?: [\d:.]+)?")


def list_labels(options: TableOptions, table: pd.DataFrame) -> Mapping[str, str]:
    """Return the label of each value of the target column.

    Raises:
        UserError: the values cannot be labels, or are too many.
    """
    if options.labels:
        return options.labels
    words = {canonical_word(cell) for cell in table[options.target].unique()}
    values = sorted(words - MISSING_WORDS - {""})
    _check_values_are_labels(options, table, values)
    if len(values) > _MAX_LABELS:
        raise UserError(
            f"{options.path}: column '{options.target}' holds {len(values)} different values;"
            f" expected at most {_MAX_LABELS} labels. Is it the right column? If so, list the"
            " labels in `labels`."
        )
    return {value: value.casefold() for value in values}


def _check_values_are_labels(
    options: TableOptions, table: pd.DataFrame, values: Sequence[str]
) -> None:
    """Require that the values of the target column can be labels.

    Raises:
        UserError: the column is blank, holds lists, or Excel made dates of some values.
    """
    column = f"{options.path}: column '{options.target}'"
    if not values:
        raise UserError(
            f"{column} holds no label in {len(table)} rows; expected a label in each. Fill it in,"
            " or name another column in `target`."
        )
    lists = [value for value in values if value.startswith("[") and value.endswith("]")]
    if len(lists) == len(values):
        raise UserError(
            f"{column} holds lists, such as {quote_value(lists[0])}; expected one label a row. Name"
            f" an item, such as `target: {options.target}.0`, or list the values in `labels`."
        )
    dates = [value for value in values if _DATE.fullmatch(value)]
    if dates and len(dates) < len(values):
        is_date = table[options.target].map(canonical_word).isin(dates)
        raise UserError(
            f"{column}, row {table.index[is_date][0]}: found {quote_value(dates[0])} among other"
            " words; expected a label. Spreadsheets make dates of words such as 1-2 and MAR1:"
            " format the column as text and enter the label again, or list the values in `labels`."
        )
