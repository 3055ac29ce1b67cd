"""A table of the user, described in the configuration alone; any protocol can argue about its
rows.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from moot.core.cases import NEAR_DUPLICATE_OF, Case, SplitName, Task
from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.label_words import find_label
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
from moot.datasets.reading.tables import FILE_COLUMN, numbered_rows
from moot.datasets.table_options import ALL, BY_HASH, SPLITS, TableOptions
from moot.datasets.table_rows import leave_out_faulty_rows, list_labels, read_files
from moot.datasets.table_texts import count_blank_parts, make_text

_LARGE_FAMILY = 0.2
"""The share of the cases above which near-duplicates in one split distort the splits."""
_WITH_SEPARATORS = r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?"
"""A number with separators of thousands: 12,345.6."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A checked row of the table.

    Attributes:
        number: its number in the file, from 1.
        cells: column to text.
        text: the facts that models read.
        target: the true label.
    """

    number: int
    cells: Mapping[str, str]
    case_id: str
    text: str
    target: str


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
    rows = _convert_rows(options, table, labels)
    pairs = _find_similar_cases(options, rows)
    splits = _assign_splits(options, context, rows, pairs)
    resembled_tests = find_resembled_tests(splits, pairs)
    task = _make_task(options, labels)
    cases = _make_cases(options, context, task, rows, splits, resembled_tests)
    features = _make_features(options, table, rows, splits)
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


def _convert_rows(
    options: TableOptions, table: pd.DataFrame, labels: Mapping[str, str]
) -> list[_Row]:
    """Convert the usable rows of a table."""
    rows = []
    has_files = FILE_COLUMN in table
    for number, cells in numbered_rows(table):
        case_id = cells[options.id_column].strip() if options.id_column else f"row-{number}"
        if has_files and not options.id_column:  # each file numbers its rows from 1
            case_id = f"{cells[FILE_COLUMN]}-{number}"
        target = str(find_label(cells[options.target], labels))
        rows.append(_Row(number, cells, case_id, make_text(options, cells), target))
    return rows


def _find_similar_cases(options: TableOptions, rows: Sequence[_Row]) -> list[RelatedCases]:
    """Return the pairs of near-duplicates; none if all cases are in one split."""
    if options.split == ALL:
        return []
    texts = {row.case_id: row.text for row in rows}
    return find_near_duplicates(texts, options.language, options.similarity)


def _assign_splits(
    options: TableOptions, context: LoadContext, rows: Sequence[_Row], pairs: Sequence[RelatedCases]
) -> Mapping[str, SplitName]:
    """Return the split of each case, by id."""
    if options.split == ALL:
        if options.baselines:
            raise UserError(
                f"datasets.{context.name}.split: 'all' makes every row a test case, but baselines"
                " need training cases. Set it to 'hash' or to a column, or leave `baselines` out."
            )
        return {row.case_id: "test" for row in rows}
    if options.split == BY_HASH:
        targets = {row.case_id: row.target for row in rows}
        return split_by_family(targets, pairs, context.seed)
    return {row.case_id: SPLITS[row.cells[options.split].strip().casefold()] for row in rows}


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
    rows: Sequence[_Row],
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
    for row in rows:
        attributes = {name: row.cells[name].strip() for name in options.attribute_columns}
        if row.case_id in resembled_tests:
            attributes[NEAR_DUPLICATE_OF] = resembled_tests[row.case_id]
        cases.append(
            Case(
                case_id=row.case_id,
                dataset=context.name,
                split=splits[row.case_id],
                text=row.text,
                target=row.target,
                labels=task.labels,
                attributes=attributes,
                source_row=row.number,
            )
        )
    return cases


def _make_features(
    options: TableOptions,
    table: pd.DataFrame,
    rows: Sequence[_Row],
    splits: Mapping[str, SplitName],
) -> pd.DataFrame | None:
    """Return the features of tabular baselines: case_id, split, label, then a typed column per
    feature.

    A column of numbers holds numbers, unless it is among the categories; any other column is a
    category.
    """
    if not options.features:
        return None
    frame = pd.DataFrame(
        {
            "case_id": [row.case_id for row in rows],
            "split": [splits[row.case_id] for row in rows],
            "label": [row.target for row in rows],
        }
    )
    for name in options.features:
        cells = table[name].str.strip()
        frame[name] = (cells if name in options.categories else _typed(cells)).to_numpy()
    return frame


def _typed(cells: "pd.Series[str]") -> "pd.Series[float] | pd.Series[str]":
    """Return cells as numbers if all are, also with thousands separators; else unchanged."""
    is_filled = cells != ""
    plain_cells = cells.where(~cells.str.fullmatch(_WITH_SEPARATORS), cells.str.replace(",", ""))
    numbers = pd.to_numeric(plain_cells.where(is_filled), errors="coerce")
    return numbers if numbers.notna().sum() == is_filled.sum() else cells
