"""A person's answer as a text that can be written by hand: a line a field, by the JSON schema of
the answer.

    The record is thin, and I would affirm.          what precedes all fields is the `statement`
    Prediction: YES                                  one of some labels; several are parted by commas
    Confidence: 70                                   a number
    Reasoning: as many lines as one likes            a text goes on to the next field
    Factors:                                         a list: an item a line, its parts between bars
    - two prior arrests | high | they are recent

A bar within a part of a list has a backslash before it.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from moot.core.errors import UserError
from moot.core.input_files import quote_value
from moot.core.types import Fields, Json, JsonObject
from moot.protocols.people import STATEMENT, title

LONGEST_ANSWER = 20_000
_BETWEEN = " | "
_YES, _NO = "yes", "no"
Schema = Fields


def kind_of(field: Schema) -> str:
    """What a person fills in for a field: text, choice, choices, number, yes_no, lines, or table."""
    if "anyOf" in field:
        return kind_of(field["anyOf"][0])
    if "enum" in field:
        return "choice"
    if field.get("type") == "array":
        inner = field["items"]
        return (
            "choices" if "enum" in inner else "table" if inner.get("type") == "object" else "lines"
        )
    kinds = {"integer": "number", "number": "number", "boolean": "yes_no"}
    return kinds.get(str(field.get("type")), "text")


def wording(field: Schema) -> str:
    """What a field may hold, in words."""
    number = "a whole number" if field.get("type") == "integer" else "a number"
    bounds = f" from {field['minimum']:g} to {field['maximum']:g}" if "maximum" in field else ""
    items = "an item a line, each after a hyphen"
    columns = _BETWEEN.join(field["items"].get("properties", ())) if "items" in field else ""
    return {
        "choice": " or ".join(map(str, field.get("enum", ()))),
        "choices": (
            f"one or more of {', '.join(map(str, field.get('items', {}).get('enum', ())))}, parted"
            " by commas"
        ),
        "number": number + bounds,
        "yes_no": f"{_YES} or {_NO}",
        "lines": items,
        "table": f"{items}: {columns}",
    }.get(kind_of(field), "in your words")


def how_to_write(form: Schema) -> str:
    """The form of an answer, for a person who writes its file by hand."""
    lines: list[str] = []
    for name, field in form["properties"].items():
        about = f" ({field['description']})" if field.get("description") else ""
        optional = "" if name in form["required"] else "; may be left out"
        if name == STATEMENT:
            lines.insert(0, f"(your statement, in as many lines as you like{optional})")
        else:
            lines.append(f"{title(name)}: {wording(field)}{about}{optional}")
    return "\n".join(f"    {line}" for line in lines)


def read_answer(text: str, form: Schema, path: Path) -> JsonObject:
    """What an answer's text fills in, by field.

    Args:
        form: the JSON schema of the answer; `required` lists what must be there.

    Raises:
        UserError: too long, a field that is missing, is there twice or holds what it cannot.
    """
    if len(text) > LONGEST_ANSWER:
        raise UserError(
            f"{path}: {len(text):,} characters; expected at most {LONGEST_ANSWER:,}. Shorten it."
        )
    stated, beside = _split(text.replace("\r\n", "\n"), form)
    found: JsonObject = {}
    for name, field in form["properties"].items():
        if name == STATEMENT:
            written = "\n\n".join(filter(None, (beside, *stated.get(name, ()))))
            lines = [written] if written else []
        else:
            lines = [line for line in stated.get(name, ()) if line]
        if len(lines) > 1 or (not lines and name in form["required"]):
            raise UserError(_missing(name, field, len(lines), path))
        if lines:
            found[name] = _value(lines[0], field, title(name).lower(), path)
    if beside and STATEMENT not in form["properties"]:
        known = ", ".join(f"'{title(name)}:'" for name in form["properties"])
        raise UserError(
            f"{path}: {quote_value(beside[:60])} belongs to no field; expected lines that begin with"
            f" {known}."
        )
    return found


def write_answer(answer: Fields, form: Schema) -> str:
    """An answer as its file; what `read_answer` reads in it is the same answer."""
    lines = [str(answer[STATEMENT]), ""] if STATEMENT in answer else []
    for name, field in form["properties"].items():
        if name == STATEMENT:
            continue
        if kind_of(field) in ("lines", "table"):
            lines += [f"{title(name)}:", *(f"- {_written(item)}" for item in answer.get(name, ()))]
        else:
            lines.append(f"{title(name)}: {_written(answer.get(name, ''))}".rstrip())
    return "\n".join(lines) + "\n"


def _written(value: Json) -> str:
    if isinstance(value, dict):
        return _BETWEEN.join(_written(part).replace("|", "\\|") for part in value.values())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return _YES if value else _NO
    return f"{value:g}" if isinstance(value, float) else str(value)


def _split(text: str, form: Schema) -> tuple[dict[str, list[str]], str]:
    """What is written under each field, and what is under none of them.

    A label or number takes one line.
    """
    names = {title(name).lower(): name for name in form["properties"]}
    marks = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    stated: dict[str, list[str]] = {}
    beside, current = [""], ""
    for line in text.split("\n"):
        if begun := re.match(rf"[ \t]*({marks})[ \t]*:[ \t]*(.*)", line, re.IGNORECASE):
            name = names[begun[1].lower()]
            stated.setdefault(name, []).append(begun[2].strip())
            current = (
                name if kind_of(form["properties"][name]) in ("text", "lines", "table") else ""
            )
        elif current:
            stated[current][-1] += f"\n{line}"
        else:
            beside.append(line)
    return {
        name: [said.strip() for said in written] for name, written in stated.items()
    }, "\n".join(beside).strip()


def _missing(name: str, field: Schema, found: int, path: Path) -> str:
    if name == STATEMENT:
        return f"{path}: no statement; expected your words above all other lines. Write them."
    what = "NUMBER" if kind_of(field) == "number" else wording(field)
    return f"{path}: {found} lines '{title(name)}: {what}'; expected one. Correct them."


def _value(written: str, field: Schema, where: str, path: Path) -> Json:
    kind = kind_of(field)
    if kind == "choices":
        parts = filter(None, (part.strip() for part in re.split(r"[,;]", written)))
        return list(
            dict.fromkeys(_one_of(part, field["items"]["enum"], where, path) for part in parts)
        )
    if kind == "table":
        return [_row(item, field["items"]["properties"], where, path) for item in _items(written)]
    if kind == "choice":
        return _one_of(written, field["enum"], where, path)
    if kind == "number":
        return _number(written, field, where, path)
    if kind == "yes_no":
        return _one_of(written, [_YES, _NO], where, path) == _YES
    return _items(written) if kind == "lines" else written


def _items(written: str) -> list[str]:
    lines = (re.sub(r"^\s*-\s*", "", line).strip() for line in written.split("\n"))
    return [line for line in lines if line]


def _row(item: str, columns: Mapping[str, Schema], where: str, path: Path) -> JsonObject:
    parts = [
        part.strip().replace("\\|", "|")
        for part in re.split(r"(?<!\\)\|", item, maxsplit=len(columns) - 1)
    ]
    if len(parts) != len(columns):
        expected = _BETWEEN.join(columns)
        raise UserError(
            f"{path}: {where} {quote_value(item[:60])}; expected {expected}. Correct the line."
        )
    return {
        name: _value(part, field, f"{where}, {name}", path)
        for part, (name, field) in zip(parts, columns.items(), strict=True)
    }


def _one_of(written: str, options: list[str], where: str, path: Path) -> str:
    found = next((option for option in options if option.casefold() == written.casefold()), None)
    if found is None:
        raise UserError(
            f"{path}: {where} {quote_value(written[:60])}; expected {' or '.join(options)}. Correct the"
            " line."
        )
    return found


def _number(written: str, field: Schema, where: str, path: Path) -> int | float:
    whole = field.get("type") == "integer"
    try:
        number = float(written.rstrip("% "))
    except ValueError:
        number = float("nan")
    low, high = field.get("minimum", float("-inf")), field.get("maximum", float("inf"))
    if not low <= number <= high or (whole and number != int(number)):
        raise UserError(
            f"{path}: {where} {quote_value(written[:60])}; expected {wording(field)}. Correct the line."
        )
    return int(number) if whole else number
