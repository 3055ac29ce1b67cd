"""A table of the user's own, described in the configuration alone: any protocol then argues about
its rows.
"""

import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import BeforeValidator, Field, model_validator

from moot.core.cases import NEAR_DUPLICATE_OF, Case, Split, cluster_attributes
from moot.core.errors import UserError
from moot.core.input_files import check_unique, refuse
from moot.core.log import LOG
from moot.core.places import Faults
from moot.core.user_tables import numbered_rows, read_table
from moot.datasets import LoadContext, Loaded, OwnOptions, dataset
from moot.datasets.near_duplicates import (
    RESEMBLING,
    Related,
    account_of_pairs,
    near_duplicates,
    resembled_tests,
    splits_by_family,
)
from moot.datasets.records import FaultyShare, leave_out

ALL, BY_HASH = "all", "hash"
SPLITS: Mapping[str, Split] = {
    "train": "train",
    "training": "train",
    "validation": "validation",
    "valid": "validation",
    "dev": "validation",
    "test": "test",
}
LEFT_OUT = "rows left out, as something is wrong"
_WITH_HEADING = (".csv", ".tsv", ".xlsx")
_MOST_LABELS, _TWO = 50, 2


def _as_mapping(value: object) -> object:
    """Labels may be a list, where the file writes them as they are called."""
    return {str(name): str(name) for name in value} if isinstance(value, list | tuple) else value


class TableOptions(OwnOptions):
    """What an entry of the configuration may say about a table of the user's own."""

    path: Path = Field(
        description=(
            "the file (.csv, .tsv, .json, .jsonl, .parquet, .xlsx), from the working directory"
        )
    )
    sheet: str = Field("", description="the sheet of an Excel file; none: its first")
    text: str | tuple[str, ...] = Field(
        description=(
            "what models read of a row: a column, a list of columns (one sentence each), or a"
            " template with columns in braces ('{age} years old, {charge}')"
        )
    )
    target: str = Field(description="the column with the true label")
    labels: Annotated[Mapping[str, str], BeforeValidator(_as_mapping)] = Field(
        default_factory=dict,
        description=(
            "the cells of `target` and the label each means (GUILTY: guilty), or a list of labels;"
            " of two the negative one first; none: as found, in lower case"
        ),
    )
    id: str = Field("", description="the column that names a case; none: the row's number")
    positive: str = Field(
        "", description="the label that binary scores call positive; none: the second of two"
    )
    roles: Mapping[str, str] = Field(
        default_factory=dict,
        description="seat to what it is called on this data (prosecutor, defense, judge, ...)",
    )
    attributes: tuple[str, ...] = Field(
        (), description="columns that scores are grouped by; models never see them"
    )
    features: tuple[str, ...] = Field(
        (), description="columns that tabular baselines are trained on"
    )
    split: str = Field(
        ALL,
        description=(
            "all (every row is a test case), hash (60/20/20 by hash, near-duplicates kept"
            " together), or a column that says train, validation or test; a training case that"
            " nearly repeats a test case is left out of training, and counted"
        ),
    )
    faulty: FaultyShare = 0.01
    similarity: float = Field(
        0.7, gt=0, le=1, description="of shingles, from which two texts are near-duplicates"
    )

    @model_validator(mode="after")
    def _labels_agree(self) -> "TableOptions":
        known = set(self.labels.values())
        for option, names in (
            ("positive", [self.positive] if self.positive else []),
            ("meaning", list(self.meaning)),
        ):
            unknown = [name for name in names if known and name not in known]
            if unknown:
                raise ValueError(
                    f"{option} names the label '{unknown[0]}'; expected one of"
                    f" {', '.join(sorted(known))}"
                )
        return self

    @model_validator(mode="after")
    def _text_does_not_tell_the_answer(self) -> "TableOptions":
        try:
            columns = self.text_columns
            if isinstance(self.text, str):
                self.text.format(**dict.fromkeys(columns, ""))
        except (ValueError, LookupError, AttributeError) as fault:
            raise ValueError(f"text: found {self.text!r}, which is no template ({fault})") from None
        if self.target in (*columns, *self.features):
            raise ValueError(
                f"target is '{self.target}', the answer, which `text` and `features` may not"
                " name too"
            )
        return self

    def own_files(self, _data_root: Path) -> tuple[Path, ...]:  # it may be anywhere
        """The table itself."""
        return (self.path,)

    @property
    def text_columns(self) -> list[str]:
        """The columns that the text is made of."""
        if not isinstance(self.text, str):
            return list(self.text)
        named = [name for _, name, _, _ in string.Formatter().parse(self.text) if name]
        return named or [self.text]


@dataset("table", TableOptions)
def load(options: TableOptions, context: LoadContext) -> Loaded:
    """Cases, features and cleaning report of a user's table.

    Raises:
        UserError: a missing file or column, an id twice, a label or split that is not known, an
            empty text; naming file, row, column, what was found and what was expected.
    """
    path, attributes = (
        options.path,
        dict.fromkeys([*options.attributes, *cluster_attributes(options.cluster)]),
    )
    columns = [*options.text_columns, options.target, options.id, *attributes, *options.features]
    columns += [] if options.split in (ALL, BY_HASH) else [options.split]
    table = read_table(path, list(dict.fromkeys(filter(None, columns))), options.sheet)
    labels, read = _labels(options, table), len(table)
    table = _without_faulty(options, table, labels)
    rows, stated = list(numbered_rows(table)), table[options.target].str.strip()
    ids = {row: cells[options.id].strip() if options.id else f"row-{row}" for row, cells in rows}
    texts = {ids[row]: _text(options, cells) for row, cells in rows}
    targets = {ids[row]: labels[stated[row]] for row in ids}
    alike = (
        near_duplicates(texts, options.language, options.similarity) if options.split != ALL else []
    )
    splits = _splits(options, context, targets, alike, table)
    copies = resembled_tests(splits, alike)
    distinct = list(dict.fromkeys(labels.values()))
    positive = options.positive or (distinct[1] if len(distinct) == _TWO else "")
    task = replace(
        options.asked(distinct),
        positive=positive,
        roles=options.roles,
        cluster=options.cluster or "",
    )
    cases = [
        Case(
            case_id=ids[row],
            dataset=context.name,
            split=splits[ids[row]],
            text=texts[ids[row]],
            target=targets[ids[row]],
            labels=task.labels,
            attributes={name: cells[name].strip() for name in attributes}
            | ({NEAR_DUPLICATE_OF: copies[ids[row]]} if ids[row] in copies else {}),
            source_row=row,
        )
        for row, cells in rows
    ]
    counts = {
        f"{split} cases": list(splits.values()).count(split)
        for split in ("train", "validation", "test")
    }
    cleaning = {
        "rows read": read,
        **({LEFT_OUT: read - len(table)} if read > len(table) else {}),
        **counts,
    }
    if equal := int(table.duplicated().sum()):
        cleaning["rows that repeat another row"] = equal
        first = int(table.index[table.duplicated()][0])
        LOG.warning(
            "%s: %d rows repeat another row whole, row %d first. Each is a case.",
            path,
            equal,
            first,
        )
    if options.split != ALL:
        cleaning |= {
            **account_of_pairs("near-duplicate pairs", splits, alike),
            RESEMBLING: len(copies),
        }
    return Loaded(
        cases, task, _features(options, table, ids, splits, targets), cleaning, (options.path,)
    )


def _without_faulty(
    options: TableOptions, table: pd.DataFrame, labels: Mapping[str, str]
) -> pd.DataFrame:
    """The rows in which nothing is wrong; raises `UserError` where others are more than `faulty`
    allows.
    """
    path, faults, wrong = options.path, Faults(), pd.Series(False, table.index)
    told = pd.Series(
        [_text(options, cells) for _, cells in numbered_rows(table)], table.index, dtype="str"
    )
    target, known = table[options.target], f"one of {', '.join(labels)}"
    unknown = ~target.str.strip().isin(list(labels))
    checks = [
        (target, unknown, known, "Add it to `labels`, or correct the row."),
        (
            table[options.text_columns[0]],
            told == "",
            "what the case is about",
            "Fill it in, or remove the row.",
        ),
    ]
    if options.split not in (ALL, BY_HASH):
        unknown = ~table[options.split].str.strip().str.casefold().isin(list(SPLITS))
        do = "Correct the row, or set `split` to all or hash."
        checks.append((table[options.split], unknown, f"one of {', '.join(SPLITS)}", do))
    for values, faulty, expected, do in checks:
        with faults.noting():
            refuse(path, values, faulty, expected, do)
        wrong |= faulty
    if options.id:
        ids = table[options.id].str.strip()
        with faults.noting():
            check_unique(path, ids, "Rename one of them, or leave `id` out to number the rows.")
        wrong |= (ids == "") | ids.duplicated(keep=False)
    if faults.count and path.suffix.casefold() in _WITH_HEADING:
        faults.add("A spreadsheet counts the heading as row 1, so that row 2 is its row 3.")
    leave_out(
        faults.messages,
        int(wrong.sum()),
        len(table),
        options.faulty,
        "Correct them, or allow more.",
        "rows",
    )
    return table[~wrong]


def _labels(options: TableOptions, table: pd.DataFrame) -> Mapping[str, str]:
    """Each cell of the target column to its label."""
    if options.labels:
        return options.labels
    found = sorted({cell.strip() for cell in table[options.target]} - {""})
    if len(found) > _MOST_LABELS:
        raise UserError(
            f"{options.path}: column '{options.target}' holds {len(found)} different values;"
            f" expected labels, at most {_MOST_LABELS}. Is it the right column? If so, list the"
            " labels in `labels`."
        )
    return {cell: cell.casefold() for cell in found}


def _text(options: TableOptions, cells: Mapping[str, str]) -> str:
    """What models read of a row; "" where there is nothing to read."""
    named = {name: " ".join(cells[name].split()) for name in options.text_columns}
    if not isinstance(options.text, str):
        return " ".join(
            f"{name.replace('_', ' ')}: {cell.rstrip('.')}." for name, cell in named.items() if cell
        )
    if options.text_columns == [options.text]:
        return cells[options.text].strip()
    return options.text.format(**named).strip() if any(named.values()) else ""


def _splits(
    options: TableOptions,
    context: LoadContext,
    targets: Mapping[str, str],
    alike: Sequence[Related],
    table: pd.DataFrame,
) -> Mapping[str, Split]:
    if options.split == ALL:
        if options.baselines:
            raise UserError(
                f"datasets.{context.name}.split: 'all' makes every row a test case, and baselines"
                " need training cases. Set it to 'hash' or to a column, or leave `baselines` out."
            )
        return dict.fromkeys(targets, "test")
    if options.split == BY_HASH:
        return splits_by_family(targets, alike, context.seed)
    stated = table[options.split].str.strip().str.casefold()
    return {case_id: SPLITS[split] for case_id, split in zip(targets, stated, strict=True)}


def _features(
    options: TableOptions,
    table: pd.DataFrame,
    ids: Mapping[int, str],
    splits: Mapping[str, Split],
    targets: Mapping[str, str],
) -> pd.DataFrame | None:
    """The frame that tabular baselines are trained on: a column of numbers stays numbers, any other
    is a category.
    """
    if not options.features:
        return None
    case_ids = list(ids.values())
    frame = pd.DataFrame({"case_id": case_ids})
    frame["split"], frame["label"] = frame["case_id"].map(splits), frame["case_id"].map(targets)
    for name in options.features:
        frame[name] = _typed(table[name].str.strip()).to_numpy()
    return frame


def _typed(cells: "pd.Series[str]") -> "pd.Series[float] | pd.Series[str]":
    numbers = pd.to_numeric(cells.where(cells != ""), errors="coerce")
    return numbers if numbers.notna().sum() == (cells != "").sum() else cells
