"""Records of opinions in files: JSON lines, JSON arrays, single JSON records, and texts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from moot.core.errors import UserError
from moot.core.json_lines import check_fields, parse_object
from moot.core.natural_order import natural_key
from moot.core.text_files import quote_value, read_text
from moot.core.types import Json, JsonObject

_ENDINGS = (".jsonl", ".json", ".txt")
_EXPECTED = "expected one Caselaw Access Project record, an array of records, or a record a line"
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "id": (str, int), "text": str, "casebody": dict, "name": str, "label": str, "outcome": str,
    "outcome_sentences": list, "name_abbreviation": str,
        "decision_date": str, "court": (dict, str), "parties": str,
    "judges": list, "counsel": list,
}  # fmt: skip


class OpinionRecord(NamedTuple):
    """A record that is not checked yet.

    Attributes:
        place: the file and the number of the record, for messages.
        row: the number of the record in its file, from 1.
        content: the value of the record, or its line.
        is_line: whether the content is a line of JSON.
    """

    place: str
    row: int
    content: Json
    is_line: bool = False

    def fields(self) -> JsonObject:
        """Return the fields that have a value.

        Raises:
            UserError: the record is not a JSON object, or a field has another type.
        """
        record = parse_object(self.place, self.content) if self.is_line else self.content
        if not isinstance(record, dict):
            raise UserError(
                f"{self.place}: found {quote_value(record)}; expected an object with the fields id"
                " and text. Correct the record."
            )
        fields = {str(name): value for name, value in record.items() if value is not None}
        check_fields(self.place, fields, _FIELDS)
        return fields


def list_opinion_files(path: Path) -> list[Path]:
    """Return the files of a path: the file itself, or all text and JSON files of a folder."""
    if path.is_dir():
        files = [
            file for file in path.iterdir() if file.suffix.casefold() in _ENDINGS and file.is_file()
        ]
        files.sort(key=lambda file: natural_key(file.name))
        if not files:
            raise UserError(
                f"{path}: no .jsonl, .json or .txt file in this folder; expected opinions."
            )
        return files
    if not path.exists():
        raise UserError(
            f"{path}: no such file or folder; put opinions there, or set `path` or data_root."
        )
    return [path]


def read_records(file: Path) -> Iterator[OpinionRecord]:
    """Iterate over the records of a file.

    Whether a JSON file holds one record, an array or a record a line follows from its contents.

    Raises:
        UserError: the file cannot be read as a whole.
    """
    text = read_text(file)
    if file.suffix.casefold() == ".txt":
        yield OpinionRecord(f"{file}: record 1", 1, {"id": file.stem, "text": text})
        return
    document = _parse_document(file, text)
    is_line = document is None
    if is_line:
        contents = [line for line in text.split("\n") if line.strip()]
    elif isinstance(document, dict):
        contents = _list_of_records(document) or [document]
    else:
        contents = document if isinstance(document, list) else [document]
    if not contents:
        raise UserError(f"{file}: no records; {_EXPECTED}.")
    for row, content in enumerate(contents, 1):
        yield OpinionRecord(f"{file}: record {row}", row, content, is_line)


def _parse_document(file: Path, text: str) -> Json:
    """Return the JSON value of a whole file; None if the file has one record per line."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as fault:
        lines = [line for line in text.split("\n") if line.strip()]
        has_lines = file.suffix.casefold() == ".jsonl" or _is_object(lines[0])
        if has_lines and not text.lstrip().startswith("["):
            return None
        raise UserError(f"{file}: not JSON ({fault}); {_EXPECTED}.") from None


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _list_of_records(document: JsonObject) -> list[Json]:
    """Return the records of an object with one list of objects, which is not a record itself."""
    if "text" in document or "casebody" in document:
        return []
    lists = [value for value in document.values() if _is_list_of_objects(value)]
    return lists[0] if len(lists) == 1 else []


def _is_list_of_objects(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)
