"""A table of the user, described in the configuration alone; any protocol can argue about it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from moot.core.cases import NEAR_DUPLICATE_OF, Case, SplitName, Task
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.near_duplicates import (
    RESEMBLING,
    RelatedCases,
    count_pairs,
    find_near_duplicates,
    find_resembled_tests,
    group_families,
    split_by_family,
)
from moot.datasets.reading.checks import LEFT_OUT
from moot.datasets.table_options import ALL, BY_HASH, SPLITS, TableOptions
from moot.datasets.table_rows import BLANK_PARTS, ID, LABEL, TEXT, count_blank_parts, read_rows

_LARGE_FAMILY = 0.2
"""The share of the cases above which near-duplicates in one split distort the splits."""
_WITH_SEPARATORS = r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?"
"""A number with separators of thousands: 12,345.6."""


@dataset("table", TableOptions)
def load(options: TableOptions, context: LoadContext) -> Loaded:
    """Load the cases, features and cleaning report of a user's table.

    Raises:
        UserError: a missing file or column, a repeated id, an unknown label or split, or an empty
            text; the message names file, row, column, the value and what was expected.
    """
    table = read_rows(options)
    rows = table.check.without_faulty(table.rows)
    pairs = _find_similar_cases(options, rows)
    splits = _assign_splits(options, context, rows, pairs)
    resembled_tests = find_resembled_tests(splits, pairs)
    task = _make_task(options, table.labels)
    cases = _make_cases(options, context, task, rows, splits, resembled_tests)
    features = _make_features(options, rows, splits)
    rows_read = len(table.rows) + table.check.broken
    cleaning = {"rows read": rows_read, LEFT_OUT: rows_read - len(rows)}
    for name in ("train", "validation", "test"):
        cleaning[f"{name} cases"] = list(splits.values()).count(name)
    cleaning[BLANK_PARTS] = count_blank_parts(options, rows)
    cleaning = {finding: count for finding, count in cleaning.items() if count}
    if options.split != ALL:
        cleaning |= count_pairs("near-duplicate pairs", splits, pairs)
        cleaning[RESEMBLING] = len(resembled_tests)
    if options.split == BY_HASH:
        cleaning |= _count_largest_family(options.path, splits, pairs)
    return Loaded(cases, task, features, cleaning, options.files, table.check.lines)


def _count_largest_family(
    path: Path, splits: Mapping[str, SplitName], pairs: Sequence[RelatedCases]
) -> dict[str, int]:
    """Return the size of the largest group of near-duplicates; empty if that is small.

    A hash puts such a group into one split.
    """
    [(family, size)] = Counter(group_families(list(splits), pairs).values()).most_common(1)
    if size <= _LARGE_FAMILY * len(splits):
        return {}
    LOG.warning(
        "%s: %d of %d texts resemble one another, as texts from a template do, so that `split:"
        " hash` puts them all into the %s split. If they are different cases, name a column in"
        " `split`.",
        path,
        size,
        len(splits),
        splits[family],
    )
    return {"cases in the largest group of near-duplicates, which is in one split": size}


def _find_similar_cases(options: TableOptions, rows: pd.DataFrame) -> list[RelatedCases]:
    """Return the pairs of near-duplicates; none if all cases are in one split."""
    if options.split == ALL:
        return []
    texts = dict(zip(rows[ID], rows[TEXT], strict=True))
    return find_near_duplicates(texts, options.language)


def _assign_splits(
    options: TableOptions, context: LoadContext, rows: pd.DataFrame, pairs: Sequence[RelatedCases]
) -> Mapping[str, SplitName]:
    """Return the split of each case, by id."""
    if options.split == ALL:
        if options.baselines:
            raise UserError(
                f"datasets.{context.name}.split: 'all' makes every row a test case, but baselines"
                " need training cases. Set it to 'hash' or to a column, or leave `baselines` out."
            )
        return dict.fromkeys(rows[ID], "test")
    if options.split == BY_HASH:
        targets = dict(zip(rows[ID], rows[LABEL], strict=True))
        return split_by_family(targets, pairs, context.seed)
    names = rows[options.split].str.strip().str.casefold()
    return dict(zip(rows[ID], names.map(SPLITS), strict=True))


def _make_task(options: TableOptions, labels: Mapping[str, str]) -> Task:
    """Describe the task of predicting the labels."""
    distinct_labels = list(dict.fromkeys(labels.values()))
    positive = options.positive or (distinct_labels[1] if len(distinct_labels) == 2 else "")
    return replace(
        options.make_task(distinct_labels),
        positive=positive,
        roles=options.roles,
        cluster=options.cluster or "",
    )


def _make_cases(
    options: TableOptions,
    context: LoadContext,
    task: Task,
    rows: pd.DataFrame,
    splits: Mapping[str, SplitName],
    resembled_tests: Mapping[str, str],
) -> list[Case]:
    """Make a case of each row.

    Args:
        options: the options of the table.
        context: its name is the data set.
        task: the prediction.
        rows: the usable rows.
        splits: the split of each case, by id.
        resembled_tests: the id of the test case that a case resembles, by the id of the case.
    """
    cases = []
    for (_, number), cells in zip(rows.index, rows.to_dict("records"), strict=True):
        case_id = cells[ID]
        attributes = {name: cells[name].strip() for name in options.attribute_columns}
        if case_id in resembled_tests:
            attributes[NEAR_DUPLICATE_OF] = resembled_tests[case_id]
        cases.append(
            Case(
                case_id=case_id,
                dataset=context.name,
                split=splits[case_id],
                text=cells[TEXT],
                target=cells[LABEL],
                labels=task.labels,
                attributes=attributes,
                source_row=int(number),
            )
        )
    return cases


def _make_features(
    options: TableOptions, rows: pd.DataFrame, splits: Mapping[str, SplitName]
) -> pd.DataFrame | None:
    """Return the features of tabular baselines, or None without features.

    The columns are case_id, split, label, then a typed one per feature. A column of numbers holds
    numbers, unless it is among the categories; any other column is a category.
    """
    if not options.features:
        return None
    frame = pd.DataFrame(
        {
            "case_id": rows[ID].tolist(),
            "split": rows[ID].map(splits).tolist(),
            "label": rows[LABEL].tolist(),
        }
    )
    for name in options.features:
        cells = rows[name].str.strip()
        frame[name] = (cells if name in options.categories else _typed(cells)).to_numpy()
    return frame


def _typed(cells: "pd.Series[str]") -> "pd.Series[float] | pd.Series[str]":
    """Return cells as numbers if all are, also with thousands separators; else unchanged."""
    is_filled = cells != ""
    plain_cells = cells.where(~cells.str.fullmatch(_WITH_SEPARATORS), cells.str.replace(",", ""))
    numbers = pd.to_numeric(plain_cells.where(is_filled), errors="coerce")
    return numbers if numbers.notna().sum() == is_filled.sum() else cells
