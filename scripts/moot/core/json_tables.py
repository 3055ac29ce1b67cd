"""Rows from JSON: an array, one object a line, or an object with one list; and nested columns."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pandas as pd

from moot.core.cell_text import parse_printed
from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.json_lines import parse_object
from moot.core.text_files import quote_value, read_text
from moot.core.types import Json, JsonObject

ROW_INDEX = "row"
"""The name of an index with the numbers of the rows of the file."""
KEY_COLUMN, VALUE_COLUMN = "(key)", "(value)"
"""The columns of an object's keys, and of values that are neither objects nor lists of objects."""
_MAX_CELLS_SEEN, _MAX_KEYS_SHOWN = 20, 3
_NUMPY_TEXT = re.compile(r"\[\{.*\}\s+\{.*\}\]|\[?\{.*\barray\(\[", re.DOTALL)
"""A list of objects in a CSV file that pandas or datasets wrote from numpy arrays."""
_BETWEEN_OBJECTS = re.compile(r"[\s,]*")
_EXPECTED = "expected an array of objects, one object a line, or an object with one list of objects"


def read_objects(
    path: Path,
    *,
    is_keyed: bool = False,
    columns: Collection[str] = (),
    last_only: Collection[str] = (),
    faults: Faults | None = None,
) -> pd.DataFrame:
    """Read the objects of a JSON file as rows; a missing key is a missing cell.

    The content shows whether the file is an array, has one object per line, or objects that share
    or span lines. The other fields of
    an object with one list of objects become columns with the same value in each row.

    Args:
        path: the file.
        is_keyed: whether the values of an object are the rows, with its keys in the column `(key)`.
            A list of objects gives several rows, a single value the column `(value)`.
        columns: columns of the table. A list in one of them is a cell, never a list of rows.
        last_only: fields of an object with one list that only its last row gets.
        faults: gets a message for each unreadable line, if a line is an object; the index of the
            rows, `row`, then has gaps. Default: such a line is an error.

    Raises:
        UserError: the file is not JSON, or holds no objects.
    """
    text = read_text(path)
    lines = [line for line in text.split("\n") if line.strip()]
    if objects := _split_objects(path, text.strip(), lines):
        return _as_frame(list(_keyed_rows(objects)) if is_keyed else objects)
    if lines[0].lstrip().startswith("{") and (len(lines) == 1 or any(map(_is_json, lines[:2]))):
        rows = _read_lines(path, text, None if len(lines) == 1 else faults)
        if is_keyed:
            return _as_frame(list(_keyed_rows(list(rows.values()))))
        if len(lines) == 1:
            return _as_frame(_unpack_object(path, rows[1], columns, last_only))
        return _as_frame(list(rows.values()), list(rows))
    is_document = lines[0].lstrip()[:1] in ("[", "{")
    if not is_document:
        rows = _read_lines(path, text, faults)
        return _as_frame(list(rows.values()), list(rows))
    document = _read_document(path, text)
    if isinstance(document, dict):
        if is_keyed:
            document = list(_keyed_rows([document]))
        else:
            document = _unpack_object(path, document, columns, last_only)
    return _as_frame(document)


def _split_objects(path: Path, text: str, lines: Sequence[str]) -> list[JsonObject]:
    """Return several objects that share a line or span lines; no object for any other content.

    A comma may separate them.
    """
    if not text.startswith("{") or any(map(_is_json, lines[:2])):
        return []
    decoder = json.JSONDecoder()
    objects: list[JsonObject] = []
    position = 0
    while position < len(text):
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        objects.append(parse_object(f"{path}: object {len(objects) + 1}", text[position:end]))
        separator = _BETWEEN_OBJECTS.match(text, end)
        position = separator.end() if separator else end
    return objects if len(objects) > 1 else []


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _as_frame(rows: Sequence[JsonObject], numbers: Sequence[int] | None = None) -> pd.DataFrame:
    columns = dict[str, list[Json]]()
    for name in dict.fromkeys(chain.from_iterable(rows)):
        columns[name] = [row.get(name) for row in rows]
    index = pd.Index(numbers or range(1, len(rows) + 1), name=ROW_INDEX)
    return pd.DataFrame(columns, index, dtype="object")


def _read_lines(path: Path, text: str, faults: Faults | None) -> dict[int, JsonObject]:
    """Return the objects of lines by line number, without blank and faulty lines."""
    rows: dict[int, JsonObject] = {}
    count = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            count += 1
            with faults.noting() if faults else nullcontext():
                rows[count] = parse_object(f"{path}: record {count} (line {number})", line)
    if faults and faults.messages and not rows:
        raise UserError(faults.messages[0])
    return rows


def _read_document(path: Path, text: str) -> Sequence[JsonObject] | JsonObject:
    """Return the object, or the array of objects, of a whole file."""
    try:
        document: Json = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise UserError(f"{path}: not JSON ({fault}); {_EXPECTED}. Save it again.") from None
    if isinstance(document, dict):
        return document
    if not document:
        raise UserError(f"{path}: an empty array; {_EXPECTED}.")
    for number, row in enumerate(document, 1):
        if not isinstance(row, dict):
            raise UserError(
                f"{path}: element {number} is {quote_value(row)}, not an object; {_EXPECTED}."
                " Correct the element."
            )
    rows: list[JsonObject] = document
    return rows


def _keyed_rows(documents: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """Yield the values of objects as rows, each with its key."""
    for document in documents:
        for key, value in document.items():
            if isinstance(value, dict):
                yield {KEY_COLUMN: key, **value}
            elif _is_list_of_objects(value):
                yield from ({KEY_COLUMN: key, **row} for row in value)
            else:
                yield {KEY_COLUMN: key, VALUE_COLUMN: value}


def _unpack_object(
    path: Path, document: JsonObject, columns: Collection[str], last_only: Collection[str]
) -> Sequence[JsonObject]:
    """Return the rows of an object with one list of objects; without such a list, the object.

    An object with columns, or with rows by number, as written by pandas, gives these rows.
    """
    rows = _pandas_rows(path, document, columns)
    if rows:
        return rows
    nested_columns = {name.partition(".")[0] for name in columns}
    fields = {name: value for name, value in document.items() if name not in nested_columns}
    lists = [name for name, value in fields.items() if _is_list_of_objects(value)]
    if len(lists) > 1:
        raise UserError(
            f"{path}: found an object with the lists {', '.join(map(quote_value, lists))}; "
            f"{_EXPECTED}. Keep only one of the lists, or name the column {KEY_COLUMN} if the "
            "lists are the debates."
        )
    if not lists:
        is_row = bool(columns) and set(columns) <= document.keys()
        empty = [] if is_row else [name for name, value in document.items() if value == []]
        if empty:
            raise UserError(
                f"{path}: no rows: the list {quote_value(empty[0])} is empty; {_EXPECTED}."
                " Remove the file, or add its rows."
            )
        return [document]
    constants = {name: value for name, value in document.items() if name != lists[0]}
    repeated = {name: value for name, value in constants.items() if name not in last_only}
    *rows, last_row = document[lists[0]]
    return [*({**repeated, **row} for row in rows), {**constants, **last_row}]


def _pandas_rows(
    path: Path, document: JsonObject, columns: Collection[str]
) -> list[JsonObject] | None:
    """Return the rows of an object that `DataFrame.to_json` or `to_dict` wrote; None for any other
    object.

    They write lists of cells by column (`list`), cells by number and column (`columns`), rows by
    number (`index`), or a list of rows and the names of their columns (`split`).

    Raises:
        UserError: the columns have different numbers of cells.
    """
    if {"columns", "data"} <= document.keys() <= {"columns", "index", "data"}:
        return _split_rows(path, document["columns"], document["data"])
    values = list(document.values())
    if not set(columns) <= document.keys():
        has_rows = all(isinstance(value, dict) and set(columns) <= set(value) for value in values)
        return values if columns and has_rows and _are_row_numbers(document) else None
    if all(isinstance(value, dict) and _are_row_numbers(value) for value in values):
        return _column_rows(path, {name: list(cells.values()) for name, cells in document.items()})
    if len(values) > 1 and all(map(_is_list_of_cells, values)):
        return _column_rows(path, document)
    return None


def _split_rows(path: Path, names: Json, rows: Json) -> list[JsonObject]:
    """Return the rows of a list of column names and a list of rows.

    Raises:
        UserError: one of them is not such a list, or a row has another number of cells.
    """
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UserError(
            f"{path}: 'columns': found {quote_value(names)}, expected a list of names. Save the"
            " table again, one object a line."
        )
    if not isinstance(rows, list):
        raise UserError(
            f"{path}: 'data': found {quote_value(rows)}, expected a list of rows. Save the table"
            " again, one object a line."
        )
    objects: list[JsonObject] = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != len(names):
            raise UserError(
                f"{path}: row {number} of 'data': found {quote_value(row)}, expected a list of"
                f" {len(names)} cells. Correct the row, or save the table again."
            )
        objects.append(dict(zip(names, row, strict=True)))
    return objects


def _is_list_of_cells(value: Json) -> bool:
    return isinstance(value, list) and not any(isinstance(cell, list | dict) for cell in value)


def _are_row_numbers(keys: Collection[str]) -> bool:
    return bool(keys) and all(key.isdecimal() for key in keys)


def _column_rows(path: Path, columns: JsonObject) -> list[JsonObject]:
    lengths = {name: len(cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{quote_value(name)} {length}" for name, length in lengths.items())
        raise UserError(
            f"{path}: found columns with different numbers of cells ({shown}); expected the same "
            "number in each. Save it again, one object a line."
        )
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _is_list_of_objects(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


@dataclass(frozen=True, slots=True)
class ExpandedTable:
    """A table with a column for each path into nested values.

    Attributes:
        frame: the rows.
        source_rows: the number of the row of the file that each row comes from, from 1.
        expanded: the column whose lists of objects gave several rows; "" if there is none.
    """

    frame: pd.DataFrame
    source_rows: Sequence[int]
    expanded: str = ""


def expand_paths(
    path: Path, frame: pd.DataFrame, columns: Sequence[str], last_only: Sequence[str] = ()
) -> ExpandedTable:
    """Add each of `columns` that is a path into nested values, such as `messages.content`.

    A column of objects gives one value for each row; a number in a path is a position in a list,
    from 0. A column with lists of objects, or objects of objects, gives one row for each inner
    object; only one column can do so. For columns in `last_only`, only the last of these rows has
    the value.

    Raises:
        UserError: two columns hold lists, or a value is not nested.
    """
    has_numbers = frame.index.name == ROW_INDEX
    source_rows = list(frame.index) if has_numbers else list(range(1, len(frame) + 1))
    expanded, frame = "", frame.reset_index(drop=True)
    while True:
        pending = [name for name in columns if name not in frame and _parent(name, frame)]
        if not pending:
            return ExpandedTable(frame, source_rows, expanded)
        parent = _parent(pending[0], frame)
        values = [_parse_nested(value) for value in frame[parent]]
        depth = len(parent) + 1
        names = [name for name in pending if _parent(name, frame) == parent]
        keys = list(dict.fromkeys(name[depth:].partition(".")[0] for name in names))
        if any(_inner_objects(value, keys) is not None for value in values):
            if expanded and not parent.startswith(f"{expanded}."):
                raise UserError(
                    f"{path}: columns {quote_value(expanded)} and {quote_value(parent)} both hold"
                    " lists of objects; expected one such column. Name the paths of one of them."
                )
            expanded = parent
            outer = [name for name in last_only if not name.startswith(f"{parent}.")]
            pairs = list(_row_objects(values, keys))
            source_rows = [source_rows[position] for position, _ in pairs]
            frame = _repeat_rows(frame, [position for position, _ in pairs], outer)
            values = [part for _, part in pairs]
        for key in keys:
            if not any(_has_part(value, key) for value in values):
                # The check of the header names the column.
                return ExpandedTable(frame, source_rows, expanded)
            parts = [_part_of(value, key) for value in values]
            frame[f"{parent}.{key}"] = pd.Series(parts, frame.index, dtype="object")


def _has_part(value: Json, key: str) -> bool:
    """Return whether an object has a key, or a list a position."""
    if isinstance(value, list):
        return key.isdecimal() and int(key) < len(value)
    return isinstance(value, dict) and key in value


def _part_of(value: Json, key: str) -> Json:
    if not _has_part(value, key):
        return None
    return value[int(key)] if isinstance(value, list) else value[key]


def _parent(name: str, frame: pd.DataFrame) -> str:
    """Return the longest beginning of a path that is a column; "" if there is none."""
    parts = name.split(".")
    beginnings = (".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))
    return next((beginning for beginning in beginnings if beginning in frame), "")


def _parse_nested(value: Json) -> Json:
    """Return a nested value; CSV and Excel store it as JSON text or as Python prints it."""
    if not isinstance(value, str) or value.strip()[:1] not in ("[", "{"):
        return value
    text = value.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        printed = _parse_printed(text)
        return value if printed is None else printed


def _parse_printed(text: str) -> Json:
    """Return an object, or a list of objects, as Python prints it; None for any other text.

    Lists of texts are not read: numpy prints them without commas, and Python joins such texts.
    """
    value: Json = parse_printed(text)
    objects = value if isinstance(value, list) else [value]
    return value if objects and all(isinstance(part, dict) for part in objects) else None


def _inner_objects(value: Json, keys: Sequence[str]) -> list[Json] | None:
    """Return the objects of a list of objects, or of an object of objects; None for others.

    A list is not unfolded if all keys are positions in it. Missing objects are left out.
    """
    if isinstance(value, list):
        if keys and all(key.isdecimal() for key in keys):
            return None
        parts = [part for part in value if part is not None]
        return parts if all(isinstance(part, dict) for part in parts) else None
    if isinstance(value, dict) and value and not set(keys) & set(value):
        parts = list(value.values())
        return parts if all(isinstance(part, dict) for part in parts) else None
    return None


def _repeat_rows(
    frame: pd.DataFrame, positions: Sequence[int], last_only: Sequence[str]
) -> pd.DataFrame:
    """Repeat rows.

    For columns in `last_only`, only the last of equal rows has the value.
    """
    repeated = frame.iloc[list(positions)].reset_index(drop=True)
    is_last = ~pd.Series(list(positions)).duplicated(keep="last")
    for name in set(last_only) & set(map(str, repeated)):
        repeated[name] = repeated[name].astype("object").where(is_last, "")
    return repeated


def _row_objects(values: Sequence[Json], keys: Sequence[str]) -> Iterator[tuple[int, Json]]:
    for position, value in enumerate(values):
        for part in _inner_objects(value, keys) or [value]:
            yield position, part


def _is_numpy_text(value: Json) -> bool:
    return isinstance(value, str) and bool(_NUMPY_TEXT.match(value.strip()))


def describe_rows_by_key(frame: pd.DataFrame, missing: Sequence[str]) -> str:
    """Describe how to read an object whose values are the rows; "" if they lack a missing name."""
    if len(frame) != 1 or frame.shape[1] == 1:
        return ""
    rows = list(frame.iloc[0])
    if all(isinstance(row, dict) and set(missing) <= set(row) for row in rows):
        return f" Its {len(rows)} keys hold the rows; name the column {KEY_COLUMN} as `id`."
    return ""


def describe_nested_columns(frame: pd.DataFrame, missing: Sequence[str]) -> str:
    """Describe how to name columns inside another one; "" if no nested column may contain them.

    It may if its objects have a missing name, or if each of its cells holds several objects.
    """
    hints: list[str] = []
    for column in frame:
        values = [_parse_nested(value) for value in frame[column].head(_MAX_CELLS_SEEN)]
        objects = [_inner_objects(value, []) or [value] for value in values]
        parts_seen = list(chain.from_iterable(objects))
        keys = dict.fromkeys(
            chain.from_iterable(map(str, part) for part in parts_seen if isinstance(part, dict))
        )
        if any(_is_numpy_text(part) for part in parts_seen):
            hint = (
                f" Column {quote_value(column)} holds nested values as numpy prints them, which"
                " cannot be read back: save the table as JSON lines or Parquet."
            )
            hints.append(hint)
        matches = [name for name in missing if name in keys]
        has_several = any(len(parts) > 1 for parts in objects)
        if matches or (keys and has_several):
            shown = ", ".join(f"{column}.{key}" for key in [*matches, *keys][:_MAX_KEYS_SHOWN])
            hint = f" Column {quote_value(column)} holds nested values; name them {shown}."
            hints.insert(0 if matches else len(hints), hint)
    return next(iter(hints), "")
