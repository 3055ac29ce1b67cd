"""JSON files of users: an array of objects, one object a line, or a single object."""

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.text_files import check_characters, describe_remedy, quote_value, read_text
from moot.core.types import Fields, Json, JsonObject
from moot.datasets.reading.checks import DataFaults, check_unique

Kinds = Mapping[str, type]
_LINES = (".jsonl", ".ndjson")


def read_objects(
    path: Path, faults: Faults, *, encoding: str = "", get: str = ""
) -> dict[int, JsonObject]:
    """Read the objects of a file.

    Args:
        path: the file. Its content shows whether it is one document or has one object a line.
        faults: gets a message for each object that cannot be read, which is left out.
        encoding: of the text, as in `read_text`.
        get: how to obtain the file, for messages.

    Returns:
        The objects by their number in the file, from 1.

    Raises:
        UserError: the file is not JSON, or holds something other than objects.
    """
    text = read_text(path, encoding=encoding, get=get)
    try:
        document: Json = json.loads(text)
    except (ValueError, RecursionError) as fault:
        if not _has_lines(path, text):
            raise UserError(
                f"{path}: not JSON ({fault}); expected an array of objects, or one object a line."
                f" {describe_remedy(get)}"
            ) from None
        return _read_lines(path, text, get, faults)
    items = document if isinstance(document, list) else [document]
    objects: dict[int, JsonObject] = {}
    for number, item in enumerate(items, start=1):
        with faults.noting():
            objects[number] = _require_object(f"{path}: record {number}", item, get)
    return _require_some(path, objects, faults)


def _has_lines(path: Path, text: str) -> bool:
    """Return whether each line is a document of its own, in a file that is not one as a whole."""
    if path.with_suffix("").suffix in _LINES or path.suffix.casefold() in _LINES:
        return True
    try:
        return isinstance(json.loads(text.lstrip().partition("\n")[0]), dict)
    except (ValueError, RecursionError):
        return False


def _read_lines(path: Path, text: str, get: str, faults: Faults) -> dict[int, JsonObject]:
    objects: dict[int, JsonObject] = {}
    count = 0
    for line_number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            count += 1
            with faults.noting():
                place = f"{path}: record {count} (line {line_number})"
                objects[count] = parse_object(place, line, get)
    return _require_some(path, objects, faults)


def _require_some(
    path: Path, objects: dict[int, JsonObject], faults: Faults
) -> dict[int, JsonObject]:
    if not objects:
        faults.check()
        raise UserError(f"{path}: no rows; expected at least one object.")
    return objects


def parse_object(place: str, line: str, get: str = "") -> JsonObject:
    """Return the JSON object that a line holds.

    Raises:
        UserError: the line holds anything else.
    """
    try:
        value: Json = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise UserError(
            f"{place}: not JSON ({fault}): {quote_value(line)}; expected one object a line."
            f" {describe_remedy(get)}"
        ) from fault
    return _require_object(place, value, get)


def _require_object(place: str, value: Json, get: str) -> JsonObject:
    if not isinstance(value, dict):
        raise UserError(
            f"{place}: found {quote_value(value)}; expected a JSON object. {describe_remedy(get)}"
        )
    check_characters(place, json.dumps(value, ensure_ascii=False))
    return value


def read_jsonl(
    path: Path,
    fields: Kinds,
    *,
    unique: str = "",
    encoding: str = "",
    get: str = "",
) -> pd.DataFrame:
    """Read objects whose fields have known types.

    Args:
        path: the file.
        fields: the required fields, with the type of their values; others are left out.
        unique: a field whose values may not repeat or be blank.
        encoding: as in `read_text` (CAIL2018 comes in "gb18030").
        get: how to obtain the file, for messages.

    Returns:
        A frame with the columns of `fields`, values as JSON gave them, indexed by
        record from 1.

    Raises:
        UserError: as `read_objects`, and for an object that lacks a field or has one of another
            type.
    """
    faults = DataFaults()
    objects = read_objects(path, faults, encoding=encoding, get=get)
    rows: dict[int, JsonObject] = {}
    for number, record in objects.items():
        with faults.noting():
            place = f"{path}: record {number}"
            _check_fields(place, record, fields)
            rows[number] = {name: record[name] for name in fields}
    faults.check()
    frame = pd.DataFrame(
        list(rows.values()), pd.Index(list(rows), name="row"), list(fields), dtype="object"
    )
    if unique:
        check_unique(path, frame[unique])
    return frame


def _check_fields(place: str, record: Fields, fields: Kinds) -> None:
    """Require that a record has all fields, with values of the types in `fields`.

    Raises:
        UserError: a field is missing, or has another type.
    """
    for name, kind in fields.items():
        if name not in record:
            raise UserError(
                f"{place}: missing field '{name}'; found {quote_value(', '.join(record))}. Add the"
                " field."
            )
        value = record[name]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise UserError(
                f"{place}, field '{name}': found {quote_value(value)}, expected {kind.__name__}."
                " Correct the record."
            )
