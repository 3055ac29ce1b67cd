"""A table of the user, described in the configuration alone; any protocol can argue about its
rows.
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from moot.core.cases import SplitName
from moot.core.config_errors import Faults
from moot.core.log import LOG
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.near_duplicates import RESEMBLING, count_pairs, find_resembled_tests
from moot.datasets.reading.checks import LEFT_OUT
from moot.datasets.table_cases import (
    assign_splits,
    convert_rows,
    find_similar_cases,
    make_cases,
    make_features,
    make_task,
)
from moot.datasets.table_checks import leave_out_faulty_rows
from moot.datasets.table_files import read_files
from moot.datasets.table_labels import list_labels
from moot.datasets.table_options import ALL, TableOptions
from moot.datasets.table_texts import count_blank_parts


@dataset("table", TableOptions)
def load(options: TableOptions, context: LoadContext) -> Loaded:
    """Load the cases, features and cleaning report of a user's table.

    Raises:
        UserError: a missing file or column, a repeated id, an unknown label or split, or an empty
            text; the message names file, row, column, the value and what was expected.
    """
    faults = Faults()
    file_rows = read_files(options, faults)
    labels = list_labels(options, file_rows.table)
    table = leave_out_faulty_rows(options, file_rows, labels, faults)
    rows = convert_rows(options, table, labels)
    pairs = find_similar_cases(options, rows)
    splits = assign_splits(options, context, rows, pairs)
    resembled_tests = find_resembled_tests(splits, pairs)
    task = make_task(options, labels)
    cases = make_cases(options, context, task, rows, splits, resembled_tests)
    features = make_features(options, table, rows, splits)
    rows_read = len(file_rows.table) + file_rows.broken
    cleaning = _count_rows(options.path, rows_read, table, splits)
    cleaning |= count_blank_parts(options, table)
    if options.split != ALL:
        cleaning |= count_pairs("near-duplicate pairs", splits, pairs)
        cleaning[RESEMBLING] = len(resembled_tests)
    return Loaded(cases, task, features, cleaning, options.own_files(context.data_root))


def _count_rows(
    path: Path, rows_read: int, table: pd.DataFrame, splits: Mapping[str, SplitName]
) -> dict[str, int]:
    """Return the cleaning report: rows read and left out, cases by split, and repeated rows."""
    counts = {"rows read": rows_read}
    if rows_read > len(table):
        counts[LEFT_OUT] = rows_read - len(table)
    for split_name in ("train", "validation", "test"):
        counts[f"{split_name} cases"] = list(splits.values()).count(split_name)
    is_repeated = table.duplicated()
    repeated_rows = int(is_repeated.sum())
    if repeated_rows:
        counts["rows that repeat another row"] = repeated_rows
        LOG.warning(
            "%s: %d rows repeat another row; the first is row %d. Each is a case.",
            path,
            repeated_rows,
            int(table.index[is_repeated][0]),
        )
    return counts
