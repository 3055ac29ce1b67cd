"""A table of the user, described in the configuration alone; any protocol can argue about its
rows.
"""

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, NamedTuple

import pandas as pd
from pydantic import BeforeValidator, Field, field_validator, model_validator

from moot.core.cases import NEAR_DUPLICATE_OF, Case, SplitName, Task, cluster_attributes
from moot.core.cell_text import canonical_word
from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.evidence import EXPECTED, Passage, read_passages, with_evidence
from moot.core.input_files import check_unique, refuse_values
from moot.core.log import LOG
from moot.core.text_files import quote_value
from moot.core.user_tables import (
    explain_row_numbers,
    is_spreadsheet,
    numbered_rows,
    read_user_table,
    select_rows,
)
from moot.datasets import LoadContext, Loaded, UserDataOptions, dataset
from moot.datasets.case_table import (
    CaseTable,
    find_cases_without_row,
    look_up_case,
    read_case_table,
)
from moot.datasets.debate_records import FaultyShare, leave_out
from moot.datasets.faulty_rows import LEFT_OUT
from moot.datasets.label_words import check_label_patterns, find_label
from moot.datasets.near_duplicates import (
    RESEMBLING,
    RelatedCases,
    count_pairs,
    find_near_duplicates,
    find_resembled_tests,
    split_by_family,
)

ALL, BY_HASH = "all", "hash"
SPLITS: Mapping[str, SplitName] = {
    "train": "train",
    "training": "train",
    "validation": "validation",
    "valid": "validation",
    "dev": "validation",
    "test": "test",
}
_MAX_LABELS = 50
MISSING_WORDS = {
    *("NaN", "nan", "NaT", "<NA>"),
    *("#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!"),
}
"""What programs write for a missing value, or for the failed result of a formula.

Words that people write, too (N/A, null, NA, None), are labels and texts.
"""
BLANK_PARTS = "cells left out of texts as missing (NaN, #N/A)"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?: [\d:.]+)?")
_SHORTENED_NUMBER = r"\d(?:[.,]\d+)?E\+\d{2,}"
"""A long number as a spreadsheet shows it: 1.23457E+15."""
_LONG_NUMBER = r"\d{6,}"
_DAMAGED_TEXT = "\ufffd|Ã[\u0080-¿]|â€[\u0080-¿œ™]|ï»¿"
"""Signs of a text that was read in another encoding than it was saved in."""
_WITH_SEPARATORS = r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?"
"""A number with separators of thousands: 12,345.6."""


def _as_mapping(value: object) -> object:
    """Return a list of labels as a mapping of each label to itself."""
    return {str(name): str(name) for name in value} if isinstance(value, list | tuple) else value


class TableOptions(UserDataOptions):
    """The options of a data set that is a table of the user."""

    path: Path = Field(
        description=(
            "File with the cases (.csv, .tsv, .json, .jsonl, .parquet or .xlsx), relative to the"
            " working directory."
        )
    )
    sheet: str = Field("", description="Sheet of an Excel file. Default: its first sheet.")
    text: str | tuple[str, ...] = Field(
        description=(
            "Text that models read for a row: a column, a list of columns (one sentence each), or a"
            " template with columns in braces ('{age} years old, {charge}')."
        )
    )
    target: str = Field(description="Column with the true label.")
    labels: Annotated[Mapping[str, str], BeforeValidator(_as_mapping)] = Field(
        default_factory=dict,
        description=(
            "Label for each value of `target` (GUILTY: guilty), or for each regular expression"
            " between slashes that matches a whole value ('/guilty.*/': guilty), or a list of"
            " labels; of two labels the negative one first. Default: the values of `target` in"
            " lower"
            " case."
        ),
    )
    id: str = Field("", description="Column with the id of the case. Default: the row's number.")
    positive: str = Field(
        "",
        description="Label that binary scores call positive. Default: the second of two labels.",
    )
    roles: Mapping[str, str] = Field(
        default_factory=dict,
        description=(
            "Name of each seat (prosecutor, defense, judge, ...) for these data, by seat. Default:"
            " the protocol's names."
        ),
    )
    attributes: tuple[str, ...] = Field(
        (), description="Columns to group scores by. Models never see them. Default: none."
    )
    features: tuple[str, ...] = Field(
        (), description="Columns that tabular baselines are trained on. Default: none."
    )
    evidence: str = Field(
        "",
        description=(
            'Column with the passages of a case, a JSON list ([{"text": ..., "source": ...}]),'
            " which follow its text and may be cited by number. Default: no evidence."
        ),
    )
    split: str = Field(
        ALL,
        description=(
            "Assignment of rows to splits: all (every row is a test case), hash (60/20/20 by hash,"
            " near-duplicates in one split), or a column with train, validation or test. A training"
            " case that nearly repeats a test case is left out of training and counted."
        ),
    )
    where: Mapping[str, str | tuple[str, ...]] = Field(
        default_factory=dict,
        description=(
            "Value, or list of values, that a row must have in each of these columns ({condition:"
            " debate}); other rows are not read. Default: all rows are read."
        ),
    )
    case_table: CaseTable | None = Field(
        None,
        description=(
            "Second file with columns of the cases, such as their true labels, by their `id`"
            " ({path: truth.csv, id: nr}). Default: the first file has all columns."
        ),
    )
    faulty: FaultyShare = 0.01
    similarity: float = Field(
        0.7,
        gt=0,
        le=1,
        description=(
            "Share of common shingles, above 0 and at most 1, from which two texts are"
            " near-duplicates. Default: 0.7."
        ),
    )

    @field_validator("labels")
    @classmethod
    def _check_label_patterns(cls, values: Mapping[str, str]) -> Mapping[str, str]:
        check_label_patterns(values)
        return values

    @model_validator(mode="after")
    def _check_that_labels_agree(self) -> "TableOptions":
        labels = set(self.labels.values())
        for option, names in (
            ("positive", [self.positive] if self.positive else []),
            ("meaning", list(self.meaning)),
        ):
            unknown_labels = [name for name in names if labels and name not in labels]
            if unknown_labels:
                raise ValueError(
                    f"{option} names the label '{unknown_labels[0]}'; expected one of"
                    f" {', '.join(sorted(labels))}"
                )
        return self

    @model_validator(mode="after")
    def _check_that_text_hides_target(self) -> "TableOptions":
        try:
            columns = self.text_columns
            if isinstance(self.text, str):
                self.text.format(**dict.fromkeys(columns, ""))
        except (ValueError, LookupError, AttributeError) as fault:
            raise ValueError(
                f"text: found {self.text!r}, which is not a template ({fault})"
            ) from None
        if self.target in (*columns, *self.features, self.evidence):
            raise ValueError(
                f"target is '{self.target}', the answer; `text`, `features` and `evidence` must not"
                " contain it"
            )
        return self

    @model_validator(mode="after")
    def _check_case_table(self) -> "TableOptions":
        if self.case_table and not self.id:
            raise ValueError("case_table needs `id`, the column with the id of the case")
        return self

    def own_files(self, _data_root: Path) -> tuple[Path, ...]:  # they may be anywhere
        """Return the table itself, and the second file of its cases."""
        return (self.path, self.case_table.path) if self.case_table else (self.path,)

    @property
    def text_columns(self) -> list[str]:
        """The columns that the text is made of."""
        if not isinstance(self.text, str):
            return list(self.text)
        fields = [field for _, field, _, _ in string.Formatter().parse(self.text) if field]
        return fields or [self.text]


class _Rows(NamedTuple):
    """The rows of a table.

    Attributes:
        table: the rows that can be read.
        lacks_case: which of them have no row in the second file.
        broken: the number of rows that cannot be read.
    """

    table: pd.DataFrame
    lacks_case: "pd.Series[bool]"
    broken: int


@dataclass(frozen=True, slots=True)
class _Row:
    """A checked row of the table.

    Attributes:
        number: its number in the file, from 1.
        cells: column to text.
        text: the facts that models read.
        target: the true label.
        passages: the evidence that they read after the facts.
    """

    number: int
    cells: Mapping[str, str]
    case_id: str
    text: str
    target: str
    passages: tuple[Passage, ...] = ()


@dataset("table", TableOptions)
def load(options: TableOptions, context: LoadContext) -> Loaded:
    """Cases, features and cleaning report of a user's table.

    Raises:
        UserError: a missing file or column, a repeated id, an unknown label or split, or an empty
            text; the message names file, row, column, the value and what was expected.
    """
    attributes = list(dict.fromkeys([*options.attributes, *cluster_attributes(options.cluster)]))
    faults = Faults()
    file_rows = _read_files(options, attributes, faults)
    full_table = file_rows.table
    labels = _labels(options, full_table)
    table = _without_faulty(options, file_rows, labels, faults)
    rows = _read_rows(options, table, labels)
    pairs: list[RelatedCases] = []
    if options.split != ALL:
        texts = {row.case_id: row.text for row in rows}
        pairs = find_near_duplicates(texts, options.language, options.similarity)
    splits = _splits(options, context, rows, pairs)
    resembled = find_resembled_tests(splits, pairs)
    task = _task(options, labels)
    cases = []
    for row in rows:
        values = {name: row.cells[name].strip() for name in attributes}
        if row.case_id in resembled:
            values[NEAR_DUPLICATE_OF] = resembled[row.case_id]
        cases.append(
            Case(
                case_id=row.case_id,
                dataset=context.name,
                split=splits[row.case_id],
                text=with_evidence(row.text, row.passages, task.language),
                target=row.target,
                labels=task.labels,
                attributes=values,
                source_row=row.number,
            )
        )
    rows_read = len(full_table) + file_rows.broken
    cleaning = _count_rows(options.path, rows_read, table, splits)
    cleaning |= _count_blank_parts(options, table)
    if options.split != ALL:
        cleaning |= count_pairs("near-duplicate pairs", splits, pairs)
        cleaning[RESEMBLING] = len(resembled)
    features = _features(options, table, rows, splits)
    return Loaded(cases, task, features, cleaning, options.own_files(context.data_root))


def _read_files(options: TableOptions, attributes: Sequence[str], faults: Faults) -> "_Rows":
    """Read the selected rows, with the columns of the second file.

    Args:
        options: the options of the table.
        attributes: the columns to group scores by.
        faults: gets a message for each row, and each case of the second file, that cannot be read.
    """
    named_columns = [*options.text_columns, options.target, *attributes, *options.features]
    named_columns.append(options.evidence)
    if not _is_rule(options.split):
        named_columns.append(options.split)
    columns = list(dict.fromkeys(filter(None, named_columns)))
    cases = pd.DataFrame()
    if options.case_table:
        case_columns = [name for name in columns if name != options.id]
        cases = read_case_table(options.case_table, case_columns, faults)
    needed_columns = [name for name in columns if name not in cases]
    needed_columns += [name for name in (options.id, *options.where) if name]
    broken_rows = Faults()
    names = list(dict.fromkeys(needed_columns))
    ids = [options.id] if options.id else []
    table = read_user_table(options.path, names, options.sheet, ids=ids, faults=broken_rows)
    faults.add_all(broken_rows)
    table = select_rows(options.path, table, options.where)
    if not table.index.is_unique:
        table = table.set_axis(pd.RangeIndex(1, len(table) + 1, name="row"))
    lacks_case = pd.Series(False, table.index)
    if options.case_table:
        case_ids = table[options.id]
        lacks_case = find_cases_without_row(case_ids, cases)
        for column in map(str, cases):
            table[column] = look_up_case(case_ids, cases, column)
    return _Rows(table, lacks_case, len(broken_rows.messages))


def _is_rule(split: str) -> bool:
    """Return whether the option `split` names a rule instead of a column."""
    return split in (ALL, BY_HASH)


def _read_rows(options: TableOptions, table: pd.DataFrame, labels: Mapping[str, str]) -> list[_Row]:
    rows = []
    for number, cells in numbered_rows(table):
        case_id = cells[options.id].strip() if options.id else f"row-{number}"
        target = str(find_label(cells[options.target], labels))
        passages = read_passages(cells[options.evidence]) if options.evidence else ()
        rows.append(_Row(number, cells, case_id, _text(options, cells), target, passages))
    return rows


def _task(options: TableOptions, labels: Mapping[str, str]) -> Task:
    distinct = list(dict.fromkeys(labels.values()))
    positive = options.positive or (distinct[1] if len(distinct) == 2 else "")
    return replace(
        options.make_task(distinct),
        positive=positive,
        roles=options.roles,
        cluster=options.cluster or "",
    )


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


def _without_faulty(
    options: TableOptions,
    file_rows: "_Rows",
    labels: Mapping[str, str],
    faults: Faults,
) -> pd.DataFrame:
    """Return the rows without a fault.

    Raises:
        UserError: the share of rows with a fault exceeds the option `faulty`.
    """
    table, lacks_case, broken = file_rows
    path, is_faulty = options.path, lacks_case.copy()
    if options.case_table:
        expected = f"a case of {options.case_table.path}"
        remedy = "Add the case there, or correct the row."
        with faults.noting():
            refuse_values(path, table[options.id], lacks_case, expected, remedy)
    for values, has_fault, expected, remedy in _column_checks(options, table, labels):
        has_new_fault = has_fault & ~lacks_case
        with faults.noting():
            refuse_values(path, values, has_new_fault, expected, remedy)
        is_faulty |= has_new_fault
    if options.id:
        ids = table[options.id].str.strip()
        with faults.noting():
            check_unique(path, ids, "Rename one of them, or leave `id` out to number the rows.")
        is_faulty |= (ids == "") | ids.duplicated(keep=False)
    if faults.count and explain_row_numbers(path):
        faults.add(explain_row_numbers(path))
    leave_out(
        faults.messages,
        int(is_faulty.sum()) + broken,
        len(table) + broken,
        options.faulty,
        "Correct them, or allow more.",
        "rows",
    )
    return table[~is_faulty]


def _column_checks(
    options: TableOptions, table: pd.DataFrame, labels: Mapping[str, str]
) -> Iterator[tuple["pd.Series[str]", "pd.Series[bool]", str, str]]:
    """Yield the checked columns: values, which of them are faulty, what is expected, and the
    remedy.
    """
    targets = table[options.target]
    label_of_word = {word: find_label(word, labels) for word in targets.unique()}
    is_unknown = targets.map(lambda word: label_of_word[word] is None)
    is_blank = targets.str.strip() == ""
    expected = f"one of {', '.join(labels)}"
    remedy = "Correct the row: fill in the label, or remove the row."
    yield targets, is_unknown & is_blank, expected, remedy
    remedy = "Correct the row, or add this value to `labels`."
    yield targets, is_unknown & ~is_blank, expected, remedy
    if options.id:
        ids = table[options.id].str.strip()
        expected = "an id; a spreadsheet has shortened the number"
        remedy = "Format the column as text, and enter the number again."
        yield ids, _find_shortened_ids(options.path, ids), expected, remedy
    texts = [_text(options, cells) for _, cells in numbered_rows(table)]
    _warn_of_damaged_texts(options.path, pd.Series(texts, table.index, dtype="str"))
    is_empty = pd.Series(texts, table.index, dtype="str") == ""
    first_column = table[options.text_columns[0]]
    yield first_column, is_empty, "a text about the case", "Fill it in, or remove the row."
    if options.evidence:
        cells_of_evidence = table[options.evidence]
        problems = {cell: _problem_with_evidence(cell) for cell in cells_of_evidence.unique()}
        is_unreadable = cells_of_evidence.map(lambda cell: bool(problems[cell]))
        reasons = [reason for reason in problems.values() if reason]
        expected = f"{EXPECTED} ({reasons[0]})" if reasons else EXPECTED
        yield cells_of_evidence, is_unreadable, expected, "Correct it, or leave the cell blank."
    if not _is_rule(options.split):
        split_names = table[options.split]
        is_unknown = ~split_names.str.strip().str.casefold().isin(list(SPLITS))
        remedy = "Correct the row, or set `split` to all or hash."
        yield split_names, is_unknown, f"one of {', '.join(SPLITS)}", remedy


def _find_shortened_ids(path: Path, ids: "pd.Series[str]") -> "pd.Series[bool]":
    """Return which ids a spreadsheet has shortened.

    An id such as 5E+12 may also be a name. It is a number if it comes from a sheet or from CSV, and
    all other ids of the column are long numbers.
    """
    is_shortened = ids.str.fullmatch(_SHORTENED_NUMBER)
    full_ids = ids[~is_shortened & (ids != "")]
    are_numbers = not full_ids.empty and full_ids.str.fullmatch(_LONG_NUMBER).all()
    return is_shortened & (is_spreadsheet(path) and bool(are_numbers))


def _count_blank_parts(options: TableOptions, table: pd.DataFrame) -> dict[str, int]:
    """Return how many cells of usable rows are left out of the texts; name them in the log."""
    counts: dict[str, int] = {}
    for name in options.text_columns:
        cells = table[name].str.strip()
        blank_cells = cells[cells.isin(list(MISSING_WORDS))]
        if blank_cells.empty:
            continue
        counts[BLANK_PARTS] = counts.get(BLANK_PARTS, 0) + len(blank_cells)
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


def _warn_of_damaged_texts(path: Path, texts: "pd.Series[str]") -> None:
    is_damaged = texts.str.contains(_DAMAGED_TEXT)
    if is_damaged.any():
        LOG.warning(
            "%s: the texts of %d rows, first of row %d, hold signs of a wrong encoding, such as"
            " '\ufffd' or 'Ã©'. Save the table as UTF-8 from its source.",
            path,
            int(is_damaged.sum()),
            int(texts.index[is_damaged][0]),
        )


def _problem_with_evidence(cell: str) -> str:
    """Return the fault of a cell of evidence; "" if there is none."""
    try:
        read_passages(cell)
    except ValueError as error:
        return str(error)
    return ""


def _labels(options: TableOptions, table: pd.DataFrame) -> Mapping[str, str]:
    """Return the label of each value of the target column."""
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


def _text(options: TableOptions, cells: Mapping[str, str]) -> str:
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


def _splits(
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


def _features(
    options: TableOptions,
    table: pd.DataFrame,
    rows: Sequence[_Row],
    splits: Mapping[str, SplitName],
) -> pd.DataFrame | None:
    """Return the features of tabular baselines: case_id, split, label, then a typed column per
    feature.

    A column of numbers holds numbers; any other column is a category.
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
        frame[name] = _typed(table[name].str.strip()).to_numpy()
    return frame


def _typed(cells: "pd.Series[str]") -> "pd.Series[float] | pd.Series[str]":
    """Return cells as numbers if all are, also with thousands separators; else unchanged."""
    is_filled = cells != ""
    plain_cells = cells.where(~cells.str.fullmatch(_WITH_SEPARATORS), cells.str.replace(",", ""))
    numbers = pd.to_numeric(plain_cells.where(is_filled), errors="coerce")
    return numbers if numbers.notna().sum() == is_filled.sum() else cells
