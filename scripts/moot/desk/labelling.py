"""The labels of one annotator for one sheet: a file in `data/annotations/`.

The file is written anew with every label.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from moot.core.durable import lock_folder, write_atomically
from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.datasets.reading.delimited import read_csv
from moot.labels.sheets import read_labels
from moot.protocols.people import NAME_RULE, normalise_name

_SHEET = re.compile(r"[0-9a-f]{8}(-\d+)?")


@dataclass(frozen=True)
class Statement:
    """A statement as an annotator sees it: its blind id, the facts and the words."""

    item: str
    facts: str
    text: str


def sheet_names(folder: Path) -> list[str]:
    """Return the names of the sheets to label."""
    return sorted(path.stem for path in folder.glob("*.csv") if _SHEET.fullmatch(path.stem))


def sheet_sizes(folder: Path) -> dict[str, int]:
    """Return the number of statements of each sheet to label, by name."""
    return {name: len(read_csv(folder / f"{name}.csv", ("item",))) for name in sheet_names(folder)}


class Labelling:
    """One annotator's work on one sheet.

    Args:
        sheets: The folder of sheets.
        annotations: The folder of people's labels.
        sheet, annotator: The names of both; they become parts of a file's name.

    Raises:
        UserError: The sheet does not exist, or the annotator's name cannot be part of a file's
            name.
    """

    def __init__(self, sheets: Path, annotations: Path, sheet: str, annotator: str) -> None:
        if sheet not in sheet_names(sheets):
            raise UserError(
                f"there is no sheet {quote_value(sheet)}. Write sheets with `snakemake"
                " annotation_sheets`."
            )
        if not normalise_name(annotator):
            raise UserError(
                f"{quote_value(annotator)} cannot be a name here; expected {NAME_RULE}."
            )
        annotator = normalise_name(annotator)
        self.sheet, self.annotator = sheet, annotator
        self._folder = annotations
        self.question, self.rubric = read_labels(sheets, sheet)
        self.path = annotations / f"desk-{sheet}-{annotator}.csv"
        frame = read_csv(sheets / f"{sheet}.csv", ("item", "facts", "statement"))
        self.statements = [
            Statement(
                str(row["item"]), _without_quote(row["facts"]), _without_quote(row["statement"])
            )
            for _, row in frame.iterrows()
        ]

    def labels(self) -> dict[str, str]:
        """Return the label of each item, in the order of labelling."""
        if not self.path.exists():
            return {}
        frame = read_csv(self.path, ("item", "label", "annotator"))
        return dict(zip(frame["item"], frame["label"], strict=True))

    def next_unlabelled(self) -> Statement | None:
        """Return the first statement without a label; None if all have one."""
        labels = self.labels()
        return next(
            (statement for statement in self.statements if statement.item not in labels), None
        )

    def add_label(self, item: str, label: str) -> str:
        """Store a label durably, and return the label that counts.

        An earlier label, for instance from another tab, counts.

        Raises:
            UserError: The statement or the label does not exist.
        """
        if label not in self.rubric or item not in {
            statement.item for statement in self.statements
        }:
            raise UserError(
                f"{quote_value(label)} of {quote_value(item)}: no such label or statement on this"
                " sheet."
            )
        with lock_folder(self._folder):
            labels = self.labels()
            if item not in labels:
                self._write({**labels, item: label})
            return labels.get(item, label)

    def undo(self, item: str) -> None:
        """Remove the last label if it belongs to `item`.

        A second click, or one in another tab, removes no further label.
        """
        with lock_folder(self._folder):
            labels = self.labels()
            if labels and list(labels)[-1] == item:
                del labels[item]
                self._write(labels)

    def _write(self, labels: Mapping[str, str]) -> None:
        rows = pd.DataFrame(
            [(*item_and_label, self.annotator) for item_and_label in labels.items()],
            columns=["item", "label", "annotator"],
        )
        write_atomically(self.path, rows.to_csv(index=False, lineterminator="\n"))


def _without_quote(cell: object) -> str:
    """Return a cell without the quote that prevents a spreadsheet from running it."""
    text = str(cell)
    return text[1:] if re.match(r"'[=+\-@\t\r]", text) else text
