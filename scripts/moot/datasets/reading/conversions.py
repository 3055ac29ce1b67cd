"""The line of pandas that converts a table which is not read as it is."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from moot.core.errors import UserError
from moot.core.types import Json

_NUMBER = re.compile(r"[0-9]+")
_MIN_COLUMNS = 2
SKIP_ROWS = (
    " If other lines stand above the heading, leave them out by `pandas.read_csv(FILE, skiprows=N,"
    " dtype=str)` (or read_excel)."
)


def suggest_conversion(frame: pd.DataFrame, columns: Sequence[str]) -> str:
    """Return a sentence with the line that makes rows of a table's columns or lists.

    "" if no column is missing, or if nothing in the table suggests a line.

    Args:
        frame: its rows, whose cells may be nested.
        columns: the columns that it should have.
    """
    missing = [name for name in columns if name not in frame]
    suggestions = _suggest_lines(frame, missing) if missing else iter(())
    return next(filter(None, suggestions), "")


def _suggest_lines(frame: pd.DataFrame, missing: Sequence[str]) -> Iterator[str]:
    """Yield sentences or "", the best first."""
    if {"columns", "data"} <= {*map(str, frame)}:
        line = "pandas.DataFrame(document['data'], columns=document['columns'])"
        yield f" The file holds names of columns and rows apart: join them by `{line}`."
    names = sorted(
        map(str, frame), key=lambda name: not any(part.startswith(name) for part in missing)
    )
    for name in names:
        yield suggest_for_cells(name, frame[name].dropna(), missing) if name else SKIP_ROWS
    if _has_rows_by_key(frame):
        line = "pandas.DataFrame.from_dict(document, orient='index').rename_axis('id')"
        yield f" The file holds one object of rows by key: make rows of it by `{line}`."
    if similar := _find_side_by_side(list(map(str, frame))):
        line = f"table.melt(id_vars=[...], value_vars={similar[:4]!r}, var_name='round')"
        yield (
            f" The columns {', '.join(similar[:4])} look like turns side by side: make one row a"
            f" turn by `{line}`."
        )


def check_orientation(path: Path, frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Require that the cells of the required columns are not columns of several rows.

    `DataFrame.to_json` writes a table so by default.

    Raises:
        UserError: the only record has an object in each of them.
    """
    cells = [frame[name].iloc[0] for name in columns] if len(frame) == 1 else []
    if len(cells) > 1 and all(isinstance(cell, dict) for cell in cells):
        raise UserError(
            f"{path}: found an object of values by row in each column; expected an array of"
            " objects, one a row. Make rows of it by `pandas.DataFrame(document)`."
        )


def suggest_for_cells(name: str, cells: Iterable[Json], missing: Sequence[str]) -> str:
    """Return a sentence with the line that makes rows of the lists or objects in a column.

    "" if there are neither; `missing` are the columns that the table should have.
    """
    items = next((cell for cell in cells if isinstance(cell, list) and cell), [None])
    parts = next((cell for cell in cells if isinstance(cell, dict) and cell), {})
    has_fields_missing = any(part.startswith(f"{name}.") for part in missing)
    if has_fields_missing and all(cell in ([], {}) for cell in cells):
        return f" The lists in column '{name}' are empty: the file holds no turn."
    if parts and all(isinstance(part, dict) for part in parts.values()):
        line = f"[{{**record, **turn}} for record in records for turn in record[{name!r}].values()]"
        return f" Column '{name}' holds an object of objects: make a row of each by `{line}`."
    if isinstance(items[0], list) and has_fields_missing:
        line = f"pandas.DataFrame(records).explode({name!r})"
        return f" Column '{name}' holds lists of lists: make a record of each by `{line}`."
    if not isinstance(items[0], dict):
        return ""
    line = f"pandas.json_normalize(records, record_path={name.split('.')!r}, meta=[...])"
    return (
        f" Column '{name}' holds lists of objects: with `loader: transcripts` name it in"
        f" `turns`, and their fields as {name}.{next(iter(items[0]))}; or make a row of"
        f" each by `{line}`."
    )


def _has_rows_by_key(frame: pd.DataFrame) -> bool:
    """Return whether a single record has the same fields below each of several keys."""
    fields = defaultdict[str, int](int)
    for name in map(str, frame):
        key, _, field = name.partition(".")
        fields[field] += bool(key and field)
    return len(frame) == 1 and max(fields.values(), default=0) >= _MIN_COLUMNS


def _find_side_by_side(names: Sequence[str]) -> list[str]:
    """Return the columns whose names differ in a number alone, such as r1_answer and r2_answer."""
    groups = defaultdict[str, list[str]](list)
    for name in names:
        if _NUMBER.search(name):
            groups[_NUMBER.sub("#", name)].append(name)
    return next((group for group in groups.values() if len(group) >= _MIN_COLUMNS), [])
