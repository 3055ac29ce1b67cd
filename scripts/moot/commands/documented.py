"""The numbers in README.md, docs/ and the studies' pages: behind each a comment names where it
comes from.

`0.844<!-- recorded/nyu_judges; arm=people debate; ours -->` is column `ours` of the row whose `arm`
is `people debate` in `results/tables/recorded/nyu_judges.csv`, with as many decimals as it is
written with. `low to high` instead of a column writes an interval, `in percent` after it a hundred
times the value. `published` as the table is that of the published values. `0.707<!-- nlsy97/lr/test
accuracy -->` is the figure of that key in `data/measured/figures.csv`, with square brackets its
interval. `python scripts/write_docs.py` writes all numbers anew.
"""

import re
from functools import cache
from pathlib import Path

import pandas as pd

from moot.core.errors import UserError
from moot.report.published import read_published

PUBLISHED, MEASURED, PERCENT = "published", "measured", " in percent"
MARKED_NUMBER = re.compile(
    r"(?P<text>\[[^\]\n]*\]|(?:[^\s\[\](|*<>,;]|\b,(?=\d{3}))+)"
    r"(?P<comment><!--\s(?P<place>[\w-]+[;/][^>]*?)\s-->)"
)


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

    def fill(self, page: str, name: str) -> str:
        """A page with its numbers written anew; those of tables that are not built stay, and are
        noted as missing.

        Raises:
            UserError: a comment names no row, several, or no column.
        """
        return MARKED_NUMBER.sub(
            lambda match: (
                self._number(match["text"], _full_place(match["text"], match["place"]), name)
                + match["comment"]
            ),
            page,
        )

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
                f"{page}: the number {text} with the comment '{place}': the table {table} has"
                f" {fault}."
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
    place = " ".join(place.split())
    if ";" in place:
        return place
    key, percent, _ = place.partition(PERCENT)
    return f"{MEASURED}; key={key}; {'low to high' if text.startswith('[') else 'value'}{percent}"


def documented_pages(root: Path) -> list[str]:
    """The pages whose numbers are written, relative to the project's folder."""
    pages = sorted(
        path
        for place in (
            "docs/*.md",
            "scripts/moot/studies/*/README.md",
            "scripts/moot/analyses/*/README.md",
        )
        for path in root.glob(place)
    )
    return ["README.md", *(str(path.relative_to(root)) for path in pages)]


def figure_keys(page: str) -> set[str]:
    """The keys of measured figures that a page shows."""
    places = (_full_place("", match["place"]).split("; ") for match in MARKED_NUMBER.finditer(page))
    return {place[1].removeprefix("key=") for place in places if place[0] == MEASURED}


def _format_number(value: float, example: str) -> str:
    decimals = re.search(r"\.(\d+)", example)
    sign, thousands = (
        "+" if example.startswith("+") else "",
        ("," if "," in example and "[" not in example else ""),
    )
    text = f"{value:{sign}{thousands}.{len(decimals[1]) if decimals else 0}f}"
    return text.replace("-", "−") if text.strip("-+0.,") else text.lstrip("-")
