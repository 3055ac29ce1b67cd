"""Files with one JSON object per line."""

import json
import re
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import pandas as pd

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.input_files import check_unique
from moot.core.text_files import check_characters, describe_remedy, quote_value, read_text
from moot.core.types import Fields, Json, JsonObject

_MAX_LINE_CHARS = 2**26
"""Maximum characters of a line: many times the longest court opinion."""
_ZERO_CHARACTER = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
"""The escape of a zero character: after an even number of backslashes, which are text."""


def read_jsonl(
    path: Path,
    fields: Mapping[str, type | tuple[type, ...]],
    *,
    optional: Mapping[str, type | tuple[type, ...]] | None = None,
    unique: str = "",
    encoding: str = "utf-8-sig",
    get: str = "",
    faults: Faults | None = None,
) -> pd.DataFrame:
    """Read a file with one JSON object per line.

    Args:
        fields: the required fields, with the type of their values; others are left out.
        optional: fields that a record may lack or leave null (None in the frame), with the type of
            their values.
        encoding: of the file (CAIL2018 comes in "gb18030").
        faults: gets a message for each line that cannot be read, which is left out. Default: such a
            line is an error.

    Returns:
        A frame with the columns of `fields` and `optional`, values as JSON gave them, indexed by
        record from 1.

    Raises:
        UserError: as `read_csv`, and for a line that is not a JSON object, lacks a field, repeats
            one or has one of another type.
    """
    text = read_text(path, encoding=encoding, get=get)
    optional = optional or {}
    records: dict[int, JsonObject] = {}
    line_count = 0
    for line_number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        line_count += 1
        place = f"{path}: record {line_count} (line {line_number})"
        with faults.noting() if faults else nullcontext():
            record = _parse_line(place, line, get)
            for name, kind in fields.items():
                _check_field(place, record, name, kind)
            for name, kind in optional.items():
                if record.get(name) is not None:
                    _check_field(place, record, name, kind)
            records[line_count] = {name: record.get(name) for name in [*fields, *optional]}
    if faults and faults.messages and not records:
        raise UserError(faults.messages[0])
    index = pd.Index(list(records), name="row")
    frame = pd.DataFrame(list(records.values()), index, [*fields, *optional], dtype="object")
    if unique:
        check_unique(path, frame[unique])
    return frame


def _parse_line(place: str, line: str, get: str) -> JsonObject:
    if len(line) > _MAX_LINE_CHARS:
        raise UserError(
            f"{place}: {len(line)} characters; expected {_MAX_LINE_CHARS} at most, one object a"
            f" line. {describe_remedy(get)}"
        )
    return parse_object(place, line, get)


def parse_object(place: str, line: str, get: str = "") -> JsonObject:
    """Return the JSON object that a line holds."""
    try:
        record = json.loads(line, object_pairs_hook=_distinct_fields)
    except _RepeatedFieldError as fault:
        raise UserError(
            f"{place}: field {quote_value(fault.args[0])} occurs twice; expected each field once. "
            "Remove one of them."
        ) from None
    except (ValueError, RecursionError) as fault:
        if line.rstrip().endswith("},"):  # lines of an array
            return parse_object(place, line.rstrip().removesuffix(","), get)
        raise UserError(
            f"{place}: not JSON ({fault}): {quote_value(line)}; expected one object a line."
            f" {describe_remedy(get)}"
        ) from fault
    if not isinstance(record, dict):
        raise UserError(
            f"{place}: found {quote_value(record)}; expected a JSON object. {describe_remedy(get)}"
        )
    if "\\u" in line:  # only an escape can produce an unpaired surrogate or a zero character
        check_characters(place, json.dumps(record, ensure_ascii=False))
        if _ZERO_CHARACTER.search(line):
            raise UserError(
                f"{place}: found '\\u0000', a zero character; expected text. Remove it."
            )
    return record


class _RepeatedFieldError(Exception):
    """A field occurs twice in a JSON object. A parser would silently use the last one."""


def _distinct_fields(pairs: list[tuple[str, Json]]) -> JsonObject:
    fields: JsonObject = {}
    for name, value in pairs:
        if name in fields:
            raise _RepeatedFieldError(name)
        fields[name] = value
    return fields


def check_fields(place: str, record: Fields, fields: Mapping[str, type | tuple[type, ...]]) -> None:
    """Require that the fields of a record have the types in `fields`.

    Raises:
        UserError: a field has another type.
    """
    for name, kind in fields.items():
        if name in record:
            _check_field(place, record, name, kind)


def _check_field(place: str, record: Fields, name: str, kind: type | tuple[type, ...]) -> None:
    if name not in record:
        raise UserError(
            f"{place}: missing field '{name}'; found {quote_value(', '.join(record))}. Add the"
            " field."
        )
    kinds = kind if isinstance(kind, tuple) else (kind,)
    value = record[name]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        expected = " or ".join(expected_type.__name__ for expected_type in kinds)
        raise UserError(
            f"{place}, field '{name}': found {quote_value(value)}, expected {expected}. Correct the"
            " record."
        )
