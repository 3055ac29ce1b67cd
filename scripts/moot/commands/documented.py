"""The numbers in README.md, docs/ and the pages of studies and analyses.

`docs/numbers.yaml` gives the source of each number. An entry has the text right before the number
(`after`, searched from the previous number on) and a place. `recorded/nyu_judges; arm=people
debate; ours` is column `ours` of the row whose `arm` is `people debate` in
`results/tables/recorded/nyu_judges.csv`. The number keeps its number of decimals. `low to high`
instead of a column writes an interval; `in percent` after it writes a hundred times the value. The
table `published` has the published values. `nlsy97/lr/test accuracy` is the value of this key in
`data/measured/figures.csv`; in square brackets it is its interval. `python
scripts/write_docs.py` updates all numbers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from moot.core.errors import UserError
from moot.core.yaml_text import load_yaml
from moot.report.published import read_published

PUBLISHED, MEASURED, PERCENT = "published", "measured", " in percent"
NUMBER = r"\[[^\]\n]*\]|[−+-]?(?:\d[\d,]*\d|\d)?(?:\.\d+)?(?<=\d)"


@dataclass(frozen=True, slots=True)
class PageNumber:
    """A number of a page.

    Attributes:
        start, end: its position in the page.
        text: the number, or an interval in square brackets.
        place: its source.
    """

    start: int
    end: int
    text: str
    place: str


Entries = Mapping[str, Sequence[Mapping[str, str]]]
"""The entries of `docs/numbers.yaml`: by page, the `after` and `place` of each number."""


def read_entries(root: Path) -> Entries:
    """Return the entries of a project."""
    entries: Entries = load_yaml((root / "docs/numbers.yaml").read_text("utf-8"))
    return entries


def find_numbers(page: str, entries: Sequence[Mapping[str, str]], name: str) -> list[PageNumber]:
    """Return the numbers of a page, in their order.

    Raises:
        UserError: the text before a number is not on the page, or no number follows it.
    """
    numbers: list[PageNumber] = []
    position = 0
    for entry in entries:
        words = r"\s+".join(map(re.escape, entry["after"].split()))
        match = re.compile(rf"{words}\s*({NUMBER})").search(page, position)
        if match is None:
            raise UserError(
                f"docs/numbers.yaml: {name}: found no number after '{entry['after']}' and the"
                f" number before it (place '{entry['place']}'). Correct `after`, or remove the"
                " entry."
            )
        numbers.append(PageNumber(match.start(1), match.end(1), match[1], entry["place"]))
        position = match.end(1)
    return numbers


class Numbers:
    """Fills pages with numbers.

    Args:
        tables: the folder of a build's tables, `{study}/{table}.csv`.
        published: the file of published values.
        measured: the file of figures of published data, column `key`.
    """

    def __init__(self, tables: Path, published: Path, measured: Path) -> None:
        self._tables, self._published, self._measured = tables, published, measured
        self._read_table = cache(self._table)
        self.missing: set[str] = set()

    def fill(self, page: str, name: str, entries: Sequence[Mapping[str, str]]) -> str:
        """Return a page with updated numbers.

        Numbers from tables that are not built stay unchanged, and the tables are recorded as
        missing.

        Raises:
            UserError: an entry that matches no number, no column, or not exactly one row.
        """
        parts: list[str] = []
        position = 0
        for number in find_numbers(page, entries, name):
            place = _full_place(number.text, number.place)
            parts += [page[position : number.start], self._number(number.text, place, name)]
            position = number.end
        return "".join([*parts, page[position:]])

    def _number(self, text: str, place: str, page: str) -> str:
        table, *conditions, columns = place.split("; ")
        frame = self._read_table(table)
        if frame is None:
            self.missing.add(table)
            return text
        scale = 100 if columns.endswith(PERCENT) else 1
        names = columns.removesuffix(PERCENT).split(" to ")
        conditions_by_column = dict(condition.split("=", 1) for condition in conditions)
        unknown_columns = [
            name for name in (*conditions_by_column, *names) if name not in frame.columns
        ]
        rows = (
            frame
            if unknown_columns
            else frame[
                (
                    frame[list(conditions_by_column)].astype(str) == pd.Series(conditions_by_column)
                ).all(axis=1)
            ]
        )
        if unknown_columns or len(rows) != 1 or rows[names].isna().any(axis=None):
            fault = (
                f"no column {', '.join(unknown_columns)}"
                if unknown_columns
                else f"{len(rows)} rows, or no value; expected one"
            )
            raise UserError(
                f"docs/numbers.yaml: {page}: the number {text} with the place '{place}': the table"
                f" {table} has {fault}."
            )
        numbers = [_format_number(scale * float(rows[name].iloc[0]), text) for name in names]
        return numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"

    def _table(self, name: str) -> pd.DataFrame | None:
        if name == PUBLISHED:
            return read_published(self._published)
        if name == MEASURED:
            return pd.read_csv(self._measured)
        path = self._tables / f"{name}.csv"
        return pd.read_csv(path) if path.is_file() else None


def _full_place(text: str, place: str) -> str:
    if ";" in place:
        return place
    key, percent, _ = place.partition(PERCENT)
    return f"{MEASURED}; key={key}; {'low to high' if text.startswith('[') else 'value'}{percent}"


def figure_keys(entries: Sequence[Mapping[str, str]]) -> set[str]:
    """Return the keys of measured figures that the entries of a page name."""
    places = [_full_place("", entry["place"]).split("; ") for entry in entries]
    return {place[1].removeprefix("key=") for place in places if place[0] == MEASURED}


def _format_number(value: float, example: str) -> str:
    decimals = re.search(r"\.(\d+)", example)
    sign, thousands = (
        "+" if example.startswith("+") else "",
        ("," if "," in example and "[" not in example else ""),
    )
    text = f"{value:{sign}{thousands}.{len(decimals[1]) if decimals else 0}f}"
    return text.replace("-", "−") if text.strip("-+0.,") else text.lstrip("-")
