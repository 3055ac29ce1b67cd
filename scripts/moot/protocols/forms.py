"""A person's answer as a text that can be written by hand, by the JSON schema of the answer.

    The record is thin, and I would affirm.          the `statement` stands before all fields
    Prediction: YES                                  one of some labels; commas separate several
    Confidence: 70                                   a number
    Reasoning: as many lines as needed               a text ends at the next field
    Factors:                                         a list: one item a line, bars between parts
    - two prior arrests | high | they are recent

A backslash precedes a bar within a part.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.core.types import Fields, Json, JsonObject
from moot.protocols.people import STATEMENT, field_title

MAX_ANSWER_CHARS = 20_000
_COLUMN_SEPARATOR = " | "
_YES, _NO = "yes", "no"
Schema = Fields


def input_kind(field: Schema) -> str:
    """Return the kind of a field: text, choice, number, yes_no, lines or table."""
    if "anyOf" in field:
        return input_kind(field["anyOf"][0])
    if "enum" in field:
        return "choice"
    if field.get("type") == "array":
        return "table" if field["items"].get("type") == "object" else "lines"
    kinds = {"integer": "number", "number": "number", "boolean": "yes_no"}
    return kinds.get(str(field.get("type")), "text")


def describe_field(field: Schema) -> str:
    """Return the valid content of a field in words."""
    number = "a whole number" if field.get("type") == "integer" else "a number"
    bounds = f" from {field['minimum']:g} to {field['maximum']:g}" if "maximum" in field else ""
    items = "an item a line, each after a hyphen"
    columns = (
        _COLUMN_SEPARATOR.join(field["items"].get("properties", ())) if "items" in field else ""
    )
    return {
        "choice": " or ".join(map(str, field.get("enum", ()))),
        "number": number + bounds,
        "yes_no": f"{_YES} or {_NO}",
        "lines": items,
        "table": f"{items}: {columns}",
    }.get(input_kind(field), "in your words")


def describe_form(form: Schema) -> str:
    """Return the form of an answer, for a person who writes the file by hand."""
    lines: list[str] = []
    for name, field in form["properties"].items():
        about = f" ({field['description']})" if field.get("description") else ""
        optional = "" if name in form["required"] else "; may be left out"
        if name == STATEMENT:
            lines.insert(0, f"(your statement, in as many lines as you like{optional})")
        else:
            lines.append(f"{field_title(name)}: {describe_field(field)}{about}{optional}")
    return "\n".join(f"    {line}" for line in lines)


def read_answer(text: str, form: Schema, path: Path) -> JsonObject:
    """Read the text of an answer.

    Args:
        text: The text.
        form: The JSON schema of the answer; `required` lists the necessary fields.
        path: The file of the answer, for messages.

    Returns:
        The content of each field.

    Raises:
        UserError: The text is too long, or a field is missing, repeated or invalid.
    """
    if len(text) > MAX_ANSWER_CHARS:
        raise UserError(
            f"{path}: {len(text):,} characters; expected at most {MAX_ANSWER_CHARS:,}. Shorten it."
        )
    texts, preamble = _split_fields(text.replace("\r\n", "\n"), form)
    answer: JsonObject = {}
    for name, field in form["properties"].items():
        if name == STATEMENT:
            statement = "\n\n".join(filter(None, (preamble, *texts.get(name, ()))))
            lines = [statement] if statement else []
        else:
            lines = [line for line in texts.get(name, ()) if line]
        if len(lines) > 1 or (not lines and name in form["required"]):
            raise UserError(_field_count_error(name, field, len(lines), path))
        if lines:
            answer[name] = _read_value(lines[0], field, field_title(name).lower(), path)
    if preamble and STATEMENT not in form["properties"]:
        captions = ", ".join(f"'{field_title(name)}:'" for name in form["properties"])
        raise UserError(
            f"{path}: {quote_value(preamble[:60])} belongs to no field; expected lines that"
            f" begin with {captions}."
        )
    return answer


def write_answer(answer: Fields, form: Schema) -> str:
    """Return an answer as the text of its file, from which `read_answer` reads the same answer."""
    lines = [str(answer[STATEMENT]), ""] if STATEMENT in answer else []
    for name, field in form["properties"].items():
        if name == STATEMENT:
            continue
        if input_kind(field) in ("lines", "table"):
            lines += [
                f"{field_title(name)}:",
                *(f"- {_format_value(item)}" for item in answer.get(name, ())),
            ]
        else:
            lines.append(f"{field_title(name)}: {_format_value(answer.get(name, ''))}".rstrip())
    return "\n".join(lines) + "\n"


def _format_value(value: Json) -> str:
    if isinstance(value, dict):
        return _COLUMN_SEPARATOR.join(
            _format_value(part).replace("|", "\\|") for part in value.values()
        )
    if isinstance(value, bool):
        return _YES if value else _NO
    return f"{value:g}" if isinstance(value, float) else str(value)


def _split_fields(text: str, form: Schema) -> tuple[dict[str, list[str]], str]:
    """Split a text into the lines of each field and the text before all fields.

    A label or number takes one line.
    """
    names = {field_title(name).lower(): name for name in form["properties"]}
    captions = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    texts: dict[str, list[str]] = {}
    preamble, current = [""], ""
    for line in text.split("\n"):
        if match := re.match(rf"[ \t]*({captions})[ \t]*:[ \t]*(.*)", line, re.IGNORECASE):
            name = names[match[1].lower()]
            texts.setdefault(name, []).append(match[2].strip())
            current = (
                name if input_kind(form["properties"][name]) in ("text", "lines", "table") else ""
            )
        elif current:
            texts[current][-1] += f"\n{line}"
        else:
            preamble.append(line)
    fields: dict[str, list[str]] = {}
    for name, parts in texts.items():
        fields[name] = [part.strip() for part in parts]
    return fields, "\n".join(preamble).strip()


def _field_count_error(name: str, field: Schema, count: int, path: Path) -> str:
    if name == STATEMENT:
        return f"{path}: no statement; expected your words above all other lines. Write them."
    value = "NUMBER" if input_kind(field) == "number" else describe_field(field)
    return f"{path}: {count} lines '{field_title(name)}: {value}'; expected one. Correct them."


def _read_value(text: str, field: Schema, name: str, path: Path) -> Json:
    kind = input_kind(field)
    if kind == "table":
        return [
            _read_row(item, field["items"]["properties"], name, path) for item in _read_items(text)
        ]
    if kind == "choice":
        return _read_option(text, field["enum"], name, path)
    if kind == "number":
        return _read_number(text, field, name, path)
    if kind == "yes_no":
        return _read_option(text, [_YES, _NO], name, path) == _YES
    return _read_items(text) if kind == "lines" else text


def _read_items(text: str) -> list[str]:
    lines = (re.sub(r"^\s*-\s*", "", line).strip() for line in text.split("\n"))
    return [line for line in lines if line]


def _read_row(item: str, columns: Mapping[str, Schema], field_name: str, path: Path) -> JsonObject:
    parts = [
        part.strip().replace("\\|", "|")
        for part in re.split(r"(?<!\\)\|", item, maxsplit=len(columns) - 1)
    ]
    if len(parts) != len(columns):
        expected = _COLUMN_SEPARATOR.join(columns)
        raise UserError(
            f"{path}: {field_name} {quote_value(item[:60])}; expected {expected}. Correct the line."
        )
    return {
        name: _read_value(part, field, f"{field_name}, {name}", path)
        for part, (name, field) in zip(parts, columns.items(), strict=True)
    }


def _read_option(text: str, options: list[str], name: str, path: Path) -> str:
    match = next((option for option in options if option.casefold() == text.casefold()), None)
    if match is None:
        raise UserError(
            f"{path}: {name} {quote_value(text[:60])}; expected {' or '.join(options)}. Correct the"
            " line."
        )
    return match


def _read_number(text: str, field: Schema, name: str, path: Path) -> int | float:
    is_integer = field.get("type") == "integer"
    try:
        number = float(text.rstrip("% "))
    except ValueError:
        number = float("nan")
    low, high = field.get("minimum", float("-inf")), field.get("maximum", float("inf"))
    if not low <= number <= high or (is_integer and number != int(number)):
        raise UserError(
            f"{path}: {name} {quote_value(text[:60])}; expected {describe_field(field)}."
            " Correct the line."
        )
    return int(number) if is_integer else number
