"""The numbers in README.md and docs/: each is followed by a comment that names its place in a table of a build.

`0.844<!-- recorded/nyu_judges; arm=people debate; ours -->` is column `ours` of the row whose `arm` is `people debate`
in `results/tables/recorded/nyu_judges.csv`, with as many decimals as it is written with. `low to high` instead of a
column writes an interval, `in percent` after it a hundred times the value. `published` as the table is that of the
published values. `python scripts/write_docs.py` writes the numbers anew from the tables that a build left.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pandas as pd

from moot.core.errors import UserError
from moot.report.published import read_published

PUBLISHED, PERCENT = "published", " in percent"
_CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_MARKED = re.compile(r"(?P<text>\[[^\]\n]*\]|[^\s\[\](|*<>,;]+)(?P<comment><!--\s(?P<place>[\w/]+;[^>]*?)\s-->)")
_FIGURE = re.compile(r"[−+-]?\d*\.\d{2,}")


class Numbers:
    """Fills pages with numbers.

    Args:
        tables: the folder of a build's tables, `{study}/{table}.csv`.
        published: the file of published values.
    """

    def __init__(self, tables: Path, published: Path) -> None:
        self._tables, self._published = tables, published
        self._read = cache(self._table)
        self.missing: set[str] = set()

    def fill(self, page: str, name: str) -> str:
        """A page with its numbers written anew; those of tables that are not built stay, and are noted as missing.

        Raises:
            UserError: a comment names no row, several, or no column.
        """
        return _MARKED.sub(lambda one: self._number(one["text"], one["place"], name) + one["comment"], page)

    def _number(self, text: str, place: str, page: str) -> str:
        table, *conditions, columns = " ".join(place.split()).split("; ")
        frame = self._read(table)
        if frame is None:
            self.missing.add(table)
            return text
        scale = 100 if columns.endswith(PERCENT) else 1
        names = columns.removesuffix(PERCENT).split(" to ")
        wanted = dict(condition.split("=", 1) for condition in conditions)
        unknown = [name for name in (*wanted, *names) if name not in frame.columns]
        rows = frame if unknown else frame[(frame[list(wanted)].astype(str) == pd.Series(wanted)).all(axis=1)]
        if unknown or len(rows) != 1 or rows[names].isna().any(axis=None):
            what = f"no column {', '.join(unknown)}" if unknown else f"{len(rows)} rows, or no value; expected one"
            raise UserError(f"{page}: the number {text} with the comment '{place}': the table {table} has {what}.")
        written = [_written(scale * float(rows[name].iloc[0]), text) for name in names]
        return written[0] if len(written) == 1 else f"[{', '.join(written)}]"

    def _table(self, name: str) -> pd.DataFrame | None:
        if name == PUBLISHED:
            return read_published(self._published)
        path = self._tables / f"{name}.csv"
        return pd.read_csv(path) if path.is_file() else None


def _written(value: float, like: str) -> str:
    decimals = re.search(r"\.(\d+)", like)
    written = f"{value:{'+' if like.startswith('+') else ''}.{len(decimals[1]) if decimals else 0}f}"
    return written.replace("-", "−") if float(written) else written.lstrip("-")


def unmarked(page: str) -> Iterator[str]:
    """The figures of two decimals or more that name no table, outside of code."""
    text = _MARKED.sub("", _CODE.sub("", page))
    for line in text.splitlines():
        yield from (f"{found[0]} in '{line.strip()[:80]}'" for found in _FIGURE.finditer(line))
