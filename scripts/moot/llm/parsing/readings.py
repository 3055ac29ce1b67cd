"""The fields of a reply that have been read so far, and their comparison with other words."""

from dataclasses import dataclass

from pydantic import BaseModel

from moot.core.types import JsonObject
from moot.llm.parsing.conclusions import find_announced
from moot.llm.parsing.field_statements import find_statements, read_agreed
from moot.llm.parsing.label_mentions import Label
from moot.llm.parsing.notes import Notes
from moot.llm.parsing.plain_text import UnreadableError
from moot.llm.parsing.schema import Shape, schema_fields
from moot.llm.parsing.values import (
    NOT_STATED,
    read_object,
    read_value,
    unwrap_object,
    validate_value,
)
from moot.llm.parsing.withdrawals import is_taken_back

DECISIONS = ("label", "integer", "number", "flag")
"""Kinds of fields that words can state without ambiguity."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The values of a schema's fields read so far, and the necessary repairs."""

    schema: type[BaseModel]
    value: JsonObject
    notes: Notes

    def leave_out(self, name: str, problem: str) -> None:
        """Leave out a field that may be missing.

        Raise UnreadableError for any other field, and if no field remains.
        """
        if not schema_fields(self.schema)[name].may_be_missing or not self.value.keys() - {name}:
            raise UnreadableError(f"{name}: {problem}")
        self.value.pop(name, None)
        self.notes.missing[name] = problem
        self.notes.bare_numbers.clear()

    def refuse_if_taken_back(self, text: str) -> None:
        """Raise UnreadableError if `text`, which follows the values, withdraws a label."""
        for name, shape in schema_fields(self.schema).items():
            if shape.kind == "label" and is_taken_back(text, shape.labels, self.value.get(name)):
                raise UnreadableError("the words after the object take it back")

    def compare_with(self, outside: str) -> None:
        """Compare with the words around the object.

        They may only add fields that the object leaves out.
        """
        fields = schema_fields(self.schema)
        problem = "the object and the text beside it disagree"
        for name, shape in fields.items():
            if is_only_of_kind(shape, fields) and _announces_another(
                outside, shape, self.value.get(name)
            ):
                self.leave_out(name, problem)
        for name, statements in find_statements(outside, self.schema).items():
            if fields[name].kind not in DECISIONS:
                continue
            if self.notes.missing.get(name) == NOT_STATED:
                self._fill_in(name, statements)
                continue
            for statement in statements:
                try:
                    value = read_value(fields[name], statement, Notes())
                except UnreadableError:
                    continue
                if self.value.get(name) not in (None, value):
                    self.leave_out(name, problem)

    def _fill_in(self, name: str, statements: list[str]) -> None:
        """Fill in a missing field from the words around the object, if they state one value."""
        shape = schema_fields(self.schema)[name]
        try:
            value = read_agreed(shape, statements)
        except UnreadableError:
            return
        if value is not None:
            self.value[name] = value
            del self.notes.missing[name]
            self.notes.add(f"{name} stands beside the object", in_words=True)


def read_fields(schema: type[BaseModel], values: JsonObject, notes: Notes) -> Reading:
    """Return the fields of `schema` in an object; raises the same errors as `read_object`."""
    value = validate_value(schema, read_object(schema, unwrap_object(schema, values, notes), notes))
    return Reading(schema, value, notes)


def is_only_of_kind(shape: Shape, fields: dict[str, Shape]) -> bool:
    """Return whether a field is the only label or the only number of the form.

    Then words need not name it.
    """
    return (
        shape.required
        and sum(field_shape.kind == shape.kind for field_shape in fields.values()) == 1
    )


def _announces_another(outside: str, shape: Shape, label: Label | None) -> bool:
    """Return whether words such as "my answer is" give another label than `label`."""
    if shape.kind != "label" or label is None:
        return False
    try:
        return any(
            announced_label != label for announced_label in find_announced(outside, shape.labels)
        )
    except UnreadableError:  # labels are named, but none is chosen
        return False
