"""A table of the user, described in the configuration alone; any protocol can argue about its
rows.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from moot.core.cases import SplitName
from moot.core.config_errors import Faults
from moot.core.log import LOG
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.near_duplicates import (
    RESEMBLING,
    RelatedCases,
    count_pairs,
    find_resembled_tests,
    group_families,
)
from moot.datasets.reading.checks import LEFT_OUT
from moot.datasets.table_cases import (
    assign_splits,
    convert_rows,
    find_similar_cases,
    make_cases,
    make_features,
    make_task,
)
from moot.datasets.table_options import ALL, BY_HASH, TableOptions
from moot.datasets.table_rows import leave_out_faulty_rows, list_labels, read_files
from moot.datasets.table_texts import count_blank_parts

_LARGE_FAMILY = 0.2
"""The share of the cases above which near-duplicates in one split distort the splits."""


@dataset("table", TableOptions)
def load(options: TableOptions, context: LoadContext) -> Loaded:
    """Load the cases, features and cleaning report of a user's table.

    Raises:
        UserError: a missing file or column, a repeated id, an unknown label or split, or an empty
            text; the message names file, row, column, the value and what was expected.
    """
    faults = Faults()
    files = read_files(options, faults)
    labels = list_labels(options, pd.concat([rows.table for rows in files]))
    table = leave_out_faulty_rows(options, files, labels, faults)
    rows = convert_rows(options, table, labels)
    pairs = find_similar_cases(options, rows)
    splits = assign_splits(options, context, rows, pairs)
    resembled_tests = find_resembled_tests(splits, pairs)
    task = make_task(options, labels)
    cases = make_cases(options, context, task, rows, splits, resembled_tests)
    features = make_features(options, table, rows, splits)
    rows_read = sum(len(rows.table) + rows.broken for rows in files)
    cleaning = _count_rows(options.path, rows_read, table, splits)
    cleaning |= count_blank_parts(options, table)
    if options.split != ALL:
        cleaning |= count_pairs("near-duplicate pairs", splits, pairs)
        cleaning[RESEMBLING] = len(resembled_tests)
    if options.split == BY_HASH:
        cleaning |= _count_largest_family(options.path, splits, pairs)
    return Loaded(cases, task, features, cleaning, options.own_files(context.data_root))


def _count_largest_family(
    path: Path, splits: Mapping[str, SplitName], pairs: Sequence[RelatedCases]
) -> dict[str, int]:
    """Return the size of the largest group of near-duplicates, which a hash puts into one split;
    empty if it is a small part of the cases.
    """
    [(family, size)] = Counter(group_families(list(splits), pairs).values()).most_common(1)
    if size <= _LARGE_FAMILY * len(splits):
        return {}
    LOG.warning(
        "%s: %d of %d texts resemble one another, as texts from a template do, so that `split:"
        " hash` puts them all into the %s split. If they are different cases, raise `similarity`"
        " or name a column in `split`.",
        path,
        size,
        len(splits),
        splits[family],
    )
    return {"cases in the largest group of near-duplicates, which is in one split": size}


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
