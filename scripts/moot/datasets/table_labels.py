"""The labels of a user's table."""

from collections.abc import Mapping

import pandas as pd

from moot.core.errors import UserError
from moot.core.spelling import canonical_word
from moot.datasets.label_words import spell_labels
from moot.datasets.table_options import TableOptions
from moot.datasets.table_texts import MISSING_WORDS

_MAX_LABELS = 50


def list_labels(options: TableOptions, table: pd.DataFrame) -> Mapping[str, str]:
    """Return the label of each value of the target column.

    Raises:
        UserError: the values cannot be labels, or are too many.
    """
    if options.labels:
        return options.labels
    words = table[options.target].map(canonical_word)
    values = spell_labels(words[~words.isin([*MISSING_WORDS, ""])])
    if not values:
        raise UserError(
            f"{options.path}: column '{options.target}' holds no label in {len(table)} rows;"
            " expected a label in each. Fill it in, or name another column in `target`."
        )
    if len(values) > _MAX_LABELS:
        raise UserError(
            f"{options.path}: column '{options.target}' holds {len(values)} different values;"
            f" expected at most {_MAX_LABELS} labels. Is it the right column? If so, list the"
            " labels in `labels`."
        )
    return values
