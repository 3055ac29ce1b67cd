"""The inputs of a form on a page, and the answer's file from the data that a browser sends."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from moot.core.errors import UserError
from moot.core.types import Fields, Json
from moot.protocols.forms import input_kind, read_answer, write_answer
from moot.protocols.people import STATEMENT, field_title
from moot.report.escaping import capitalised

POSITION = "position"
"""The first sentence of a statement that takes a position; the page suggests sentences."""
_MAX_ROWS = 10
_YES = "yes"


@dataclass(frozen=True)
class Input:
    """One field of a page.

    Attributes:
        name: The field's name in the form that the browser sends.
        kind: text, line, choice, choices, number, lines or table.
        label: The label of the field.
        about: The meaning of the field; "" if the label states it.
        required: Whether the field must be filled in.
        value: The present content.
        options: The options of a choice, or suggestions.
        low, high: The bounds of a number.
        rows: The cells of a table's rows, by column.
        columns: The columns of a table, as inputs.
    """

    name: str
    kind: str
    label: str
    about: str = ""
    required: bool = False
    value: str = ""
    options: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    rows: tuple[Mapping[str, str], ...] = ()
    columns: tuple["Input", ...] = ()


def inputs_of(form: Fields, form_data: Fields) -> list[Input]:
    """Return the inputs of a form with the content that was sent, if there is any."""
    inputs: list[Input] = []
    for name, field in form["properties"].items():
        required = name in form["required"]
        if name == STATEMENT and field.get("examples"):
            inputs += [
                Input(
                    POSITION,
                    "line",
                    "Your position, in a sentence",
                    required=required,
                    value=str(form_data.get(POSITION, "")),
                    options=tuple(field["examples"]),
                ),
                Input(name, "text", "Your reasons", value=str(form_data.get(name, ""))),
            ]
        else:
            inputs.append(_input(name, field, required, form_data))
    return inputs


def _input(name: str, field: Fields, required: bool, form_data: Fields) -> Input:
    kind = input_kind(field)
    options = field.get("enum", ())
    if kind == "yes_no":
        kind, options = "choice", (_YES, "no")
    columns: Fields = field["items"]["properties"] if kind == "table" else {}
    row_count = min(field.get("maxItems", _MAX_ROWS), _MAX_ROWS)
    rows = [_table_row(form_data, name, row, columns) for row in range(row_count)]
    return Input(
        name=name,
        kind=kind,
        label=field_title(name),
        about=_help_text(field, kind),
        required=required,
        value=str(form_data.get(name, "")),
        options=tuple(map(str, options)),
        low=field.get("minimum"),
        high=field.get("maximum"),
        rows=tuple(rows) if columns else (),
        columns=tuple(_input(column, inner, False, {}) for column, inner in columns.items()),
    )


def _help_text(field: Fields, kind: str) -> str:
    """Return the meaning of a field, and the requirements that its input does not show."""
    bounds = f"{field['minimum']:g} to {field['maximum']:g}" if "maximum" in field else ""
    described = str(field.get("description", ""))
    how = {"number": "" if bounds in described else bounds, "lines": "one in each line"}.get(
        kind, ""
    )
    words = "; ".join(filter(None, (described, how)))
    return capitalised(words)


def answer_text(form_data: Fields, form: Fields) -> str:
    """Return the text of an answer that a browser sent.

    Raises:
        UserError: The answer is empty, a field is missing or invalid, or a line of a text reads
            like a field.
    """
    answer = {
        name: value for name, value in _field_values(form_data, form) if value not in ("", [])
    }
    missing = [_field_label(name) for name in form["required"] if name not in answer]
    if missing or not answer:
        raise UserError(_missing_fields_message(missing, is_empty=not answer))
    text = write_answer(answer, form)
    path = Path("your answer")
    parsed_answer = read_answer(text, form, path)
    for name, field in form["properties"].items():
        is_free_text = input_kind(field) in ("text", "lines", "table")
        if is_free_text and parsed_answer.get(name, "") != answer.get(name, ""):
            fields = ", ".join(
                f"'{field_title(field_name)}:'"
                for field_name in form["properties"]
                if field_name != STATEMENT
            )
            raise UserError(
                f"{path}: a line of '{field_title(name)}' cannot be kept as it is. Begin no line"
                " with"
                f" {fields}."
            )
    return text


def _field_label(name: str) -> str:
    return "your statement" if name == STATEMENT else f"'{field_title(name)}'"


def _missing_fields_message(missing: Sequence[str], *, is_empty: bool) -> str:
    """Describe the missing fields of an incomplete answer."""
    fields = " and ".join(filter(None, (", ".join(missing[:-1]), *missing[-1:])))
    if is_empty:
        return f"Your answer is empty. Fill in {fields or 'at least one field'}."
    return f"Your answer lacks {fields}. Fill in what is missing."


def form_text(form_data: Fields) -> str:
    """Return the text of an answer to a question that no longer exists, to be stored."""
    return (
        "\n".join(
            f"{field_title(name)}: {value}" for name, value in form_data.items() if name != "seen"
        )
        + "\n"
    )


def _field_values(form_data: Fields, form: Fields) -> Iterator[tuple[str, Json]]:
    for name, field in form["properties"].items():
        kind = input_kind(field)
        if name == STATEMENT:
            yield (
                name,
                "\n\n".join(filter(None, (_text(form_data, part) for part in (POSITION, name)))),
            )
        elif kind == "lines":
            yield (
                name,
                [line for line in map(str.strip, _text(form_data, name).split("\n")) if line],
            )
        elif kind == "table":
            columns = field["items"]["properties"]
            rows = [_table_row(form_data, name, row, columns) for row in range(_MAX_ROWS)]
            yield name, [row for row in rows if any(row.values())]
        else:
            yield name, _text(form_data, name)


def _table_row(form_data: Fields, name: str, row: int, columns: Iterable[str]) -> Mapping[str, str]:
    """Return the cells of one row of a table that a browser sent, by column."""
    return {column: _text(form_data, f"{name}-{row}-{column}") for column in columns}


def _text(form_data: Fields, name: str) -> str:
    return str(form_data.get(name, "")).replace("\r\n", "\n").strip()
