"""Decisions on statements that annotators label differently.

Each person who decides has a file in `data/annotations/`.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pandas as pd

from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.datasets.reading.tables import read_csv
from moot.desk.labelling import Labelling, Statement, sheet_names
from moot.labels import ADJUDICATED, HUMAN
from moot.labels.sheets import SheetContents, filled_files, read_annotations, read_labels
from moot.protocols.people import normalise_name


def read_human_labels(sheets: Path, annotations: Path) -> pd.DataFrame:
    """Return all labels and decisions of people on the existing sheets.

    It has the columns of `read_annotations`.
    """
    sheets_by_id: dict[str, SheetContents] = {}
    for name in sheet_names(sheets):
        for item in read_csv(sheets / f"{name}.csv", ("item",))["item"]:
            sheet = str(item).split("-", maxsplit=1)[0]
            sheets_by_id.setdefault(
                sheet, SheetContents(set(), read_labels(sheets, name)[1])
            ).items.add(str(item))
    return read_annotations(filled_files(annotations), sheets_by_id)[0]


def conflicts(sheets: Path, annotations: Path) -> list[tuple[str, dict[str, str]]]:
    """Return the blind id of each statement with different labels, and the labels by annotator."""
    rows = read_human_labels(sheets, annotations)
    found = []
    for item, ratings in rows[rows["kind"] == HUMAN].groupby("item", sort=True):
        labels = dict(zip(ratings["annotator"], ratings["label"], strict=True))
        if len(set(labels.values())) > 1:
            found.append((str(item), labels))
    return found


@dataclass(frozen=True, slots=True)
class SheetConflicts:
    """The statements of a sheet with different labels.

    Attributes:
        items: Their blind ids; none while people are still labelling the sheet.
        partial_counts: The numbers of labels of the annotators who have not labelled all of it.
        annotators: The names of all annotators of the sheet.
        ratings: The labels by item (rows) and annotator (columns).
    """

    items: Sequence[str]
    partial_counts: Sequence[int]
    annotators: Set[str]
    ratings: pd.DataFrame


def find_conflicts(rows: pd.DataFrame, items: Sequence[str]) -> SheetConflicts:
    """Return the conflicts on the items of one sheet.

    Args:
        rows: Labels and decisions as `read_human_labels` returns them.
        items: The blind ids of the sheet's statements, in their order.
    """
    labels = rows[rows["item"].isin(items) & (rows["kind"] == HUMAN)]
    ratings = labels.pivot(index="item", columns="annotator", values="label")
    is_labelled = ratings.notna()
    partial_counts = sorted(int(count) for count in is_labelled.sum() if count < len(items))
    is_conflict = is_labelled.sum(axis=1).gt(1) & ratings.nunique(axis=1).gt(1)
    conflict_items = [item for item in items if not partial_counts and is_conflict.get(item, False)]
    annotators = frozenset(map(normalise_name, ratings.columns))
    return SheetConflicts(conflict_items, partial_counts, annotators, ratings)


def count_conflicts(sheets: Path, annotations: Path, visitor: str = "") -> dict[str, int]:
    """Return the number of conflicts of each sheet that has some, by name.

    Sheets that people are still labelling are left out, and those that the visitor labelled.
    """
    rows = read_human_labels(sheets, annotations)
    counts: dict[str, int] = {}
    for name in sheet_names(sheets):
        items = [str(item) for item in read_csv(sheets / f"{name}.csv", ("item",))["item"]]
        sheet_conflicts = find_conflicts(rows, items)
        if sheet_conflicts.items and normalise_name(visitor) not in sheet_conflicts.annotators:
            counts[name] = len(sheet_conflicts.items)
    return counts


class Settling(Labelling):
    """One person's decisions between the annotators of one sheet, who stay anonymous.

    Labels are shown once all annotators who began the sheet have labelled all of it, and never to
    one of them. If two people decide on a statement, the first decision counts.

    Raises:
        UserError: As for `Labelling`, or this person labelled the sheet.
    """

    role, prefix = "adjudicator", "settled"

    def __init__(self, sheets: Path, annotations: Path, sheet: str, annotator: str) -> None:
        super().__init__(sheets, annotations, sheet, annotator)
        on_sheet = {statement.item: statement for statement in self.statements}
        self._sheets, self._items = sheets, set(on_sheet)
        sheet_conflicts = find_conflicts(self._read_rows(), list(on_sheet))
        if self.annotator in sheet_conflicts.annotators:
            raise UserError(
                f"{quote_value(annotator)} labelled this sheet; another person decides between its"
                " annotators."
            )
        self.ratings = sheet_conflicts.ratings
        self.partial_counts = sheet_conflicts.partial_counts
        self.size = len(on_sheet)
        self.statements = [on_sheet[item] for item in sheet_conflicts.items]

    def final_labels(self) -> dict[str, str]:
        """Return the decision on each item, of this person and all others."""
        rows = self._read_rows()
        decided = rows[rows["kind"] == ADJUDICATED]
        return dict(zip(decided["item"], decided["label"], strict=True))

    def shuffled_labels(self, statement: Statement) -> list[str]:
        """Return the labels of a statement in an order that does not reveal their annotators."""
        labels = self.ratings.loc[statement.item].dropna()
        return [
            str(labels[name])
            for name in sorted(
                labels.index, key=lambda name: _shuffle_key(statement.item, str(name))
            )
        ]

    def _read_rows(self) -> pd.DataFrame:
        rows = read_human_labels(self._sheets, self._folder)
        return rows[rows["item"].isin(self._items)]


def _shuffle_key(item: str, annotator: str) -> str:
    return sha256(f"{item}\x1f{annotator}".encode()).hexdigest()
