"""Decisions on statements that annotators label differently.

Each person who decides has a file in `data/annotations/`.
"""

from hashlib import sha256
from pathlib import Path

import pandas as pd

from moot.core.errors import UserError
from moot.core.input_files import quote_value, read_csv
from moot.desk.labelling import Labelling, Statement, sheet_names
from moot.labels import ADJUDICATED, HUMAN
from moot.labels.sheets import SheetContents, filled_files, read_annotations, read_labels
from moot.protocols.people import normalise_name


def read_human_labels(sheets: Path, annotations: Path) -> pd.DataFrame:
    """Return all labels and decisions of people on the existing sheets.

    The columns are those of `read_annotations`.
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
        rows = self._read_rows()
        self.ratings = rows[rows["kind"] == HUMAN].pivot(
            index="item", columns="annotator", values="label"
        )
        if self.annotator in map(normalise_name, self.ratings.columns):
            raise UserError(
                f"{quote_value(annotator)} labelled this sheet; another person decides between its"
                " annotators."
            )
        is_labelled = self.ratings.notna()
        self.partial_counts = sorted(
            int(count) for count in is_labelled.sum() if count < len(on_sheet)
        )
        is_conflict = is_labelled.sum(axis=1).gt(1) & self.ratings.nunique(axis=1).gt(1)
        conflicts = (
            []
            if self.partial_counts
            else [item for item in on_sheet if is_conflict.get(item, False)]
        )
        self.size, self.statements = len(on_sheet), [on_sheet[item] for item in conflicts]

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
