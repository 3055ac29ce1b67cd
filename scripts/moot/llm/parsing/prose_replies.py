"""Values from a reply in words: "Prediction: YES", "The answer is YES. I am 70% confident."."""

import re
from dataclasses import dataclass

from pydantic import BaseModel

from moot.core.types import Json
from moot.llm.parsing.answer_frames import EXPLANATION
from moot.llm.parsing.articles import split_list
from moot.llm.parsing.conclusions import find_label
from moot.llm.parsing.field_statements import find_statements, first_line, read_agreed
from moot.llm.parsing.label_mentions import Label, find_mentions
from moot.llm.parsing.label_phrases import match_opening, read_label
from moot.llm.parsing.notes import Notes
from moot.llm.parsing.plain_text import CUT, UnreadableError
from moot.llm.parsing.readings import DECISIONS, Reading, is_only_of_kind
from moot.llm.parsing.schema import PLACEHOLDER, Shape, schema_fields
from moot.llm.parsing.stated_number import find_only_number, read_rating
from moot.llm.parsing.values import collect_fields, read_value, validate_value
from moot.llm.parsing.withdrawals import PERSONS

_BARE_NUMBER = r"(?<![\d.–-])(?<!\bto )(?<!\bor )(?<!\band )\d+(?:\.\d+)?"
_NO_RANGE = r"(?!\.?\d|\s?[-–—]\s?\d|\s(?:to|or)\s\d)"
_OTHERS_CONFIDENCE = re.compile(
    r"(?:\bnot|n['’]t|\bless than|\bat most)\s+(?:about\s+)?$"
    rf"|\b(?:{'|'.join(PERSONS)})\s+(?:is|are|was|were)\s+(?:\w+\s+)?$",
    re.IGNORECASE,
)
"""Words before a confidence that deny it or give it to another person."""
_CONFIDENCES = [
    rf"({_BARE_NUMBER}\s?%)\s*(?:confidence|confident|sure|certain)\b",
    (
        r"\bconfidence(?: level| score)? (?:of|is|at) (?:about |around )?"
        rf"({_BARE_NUMBER}(?:\s?%)?){_NO_RANGE}(?!\s*(?:/|(?:out )?of|in)\s*(?!100\b)\d)"
    ),
]


@dataclass(frozen=True, slots=True)
class ProseReply:
    """A reply in words, from which the fields of a schema are read.

    Attributes:
        text: the reply.
        schema: the requested form.
        is_complete: whether an end token shows that the reply is whole.
    """

    text: str
    schema: type[BaseModel]
    is_complete: bool

    def read(self) -> Reading:
        """Return the fields that the words state; raises UnreadableError if they state none."""
        statements = find_statements(self.text, self.schema)
        stated_names: list[str] = []

        def read_field(shape: Shape, name: str, notes: Notes) -> Json:
            value = self._read_field(name, shape, statements, notes)
            if value is None and shape.required:
                raise UnreadableError("not stated in words")
            if value is None:
                return shape.default
            stated_names.append(name)
            return value

        notes = Notes(["no JSON object; read from the words"], in_words=True)
        names = {name: name for name in schema_fields(self.schema)}
        value = collect_fields(self.schema, names, read_field, notes)
        if not stated_names:
            raise UnreadableError("no JSON object, and no field is stated in words")
        return Reading(self.schema, validate_value(self.schema, value), notes)

    def _read_field(
        self, name: str, shape: Shape, statements: dict[str, list[str]], notes: Notes
    ) -> Json:
        field_statements = statements.get(name, [])
        if shape.kind in DECISIONS:
            if name == find_only_number(self.schema):
                return read_rating(
                    self.text, shape, lambda phrase: read_value(shape, phrase, notes)
                )
            if self._is_only_label(shape) and _is_prose(shape, field_statements):
                return find_label(self.text, shape.labels)[0]
            value = read_agreed(shape, field_statements, notes)
            return self._read_unnamed(name, shape, notes) if value is None else value
        if shape.kind == "list" and shape.required and not statements:
            return self._read_unnamed(name, shape, notes)
        if shape.kind == "text" and len(field_statements) == 1:
            return _clean_prose(field_statements[0])
        return None

    def _is_only_label(self, shape: Shape) -> bool:
        return shape.kind == "label" and is_only_of_kind(shape, schema_fields(self.schema))

    def _read_unnamed(self, name: str, shape: Shape, notes: Notes) -> Json:
        """Return a value that is stated without its field's name.

        Examples are "The answer is YES", "70% confident" and "I give it 8/10".
        """
        if self._is_only_label(shape):
            return find_label(self.text, shape.labels)[0]
        if shape.kind == "list" and shape.item and shape.item.kind == "label":
            return _read_listed(shape.item, self.text, is_complete=self.is_complete)
        if shape.kind not in ("integer", "number"):
            return None
        patterns = _CONFIDENCES if name == "confidence" else []
        is_only = is_only_of_kind(shape, schema_fields(self.schema))
        if is_only and shape.high is not None and shape.high > 1:
            patterns = [*patterns, rf"({_BARE_NUMBER}\s?(?:/|out of)\s?{shape.high:g}){_NO_RANGE}"]
        quantities: list[str] = []
        for pattern in patterns:
            quantities += [
                match[1]
                for match in re.finditer(pattern, self.text, re.IGNORECASE)
                if not _OTHERS_CONFIDENCE.search(
                    self.text[max(0, match.start() - 60) : match.start()]
                )
            ]
        return read_agreed(shape, quantities, notes)


def _is_prose(shape: Shape, statements: list[str]) -> bool:
    """Return whether a field's only statement is a sentence that opens with a label's word.

    "Conclusion: No sign of unequal pay was found." is one. The answer is then elsewhere.
    """
    if len(statements) != 1:
        return False
    sentence = first_line(statements[0])
    opening = match_opening(sentence, shape.labels)
    return (
        opening is not None
        and len(sentence.split()) > 2
        and EXPLANATION.match(sentence[opening[1].end() :]) is None
        and not find_mentions(sentence[opening[1].end() :], shape.labels)
    )


def _read_listed(shape: Shape, text: str, *, is_complete: bool) -> list[Label] | None:
    """Return the labels that `text` lists, if it is only a list: "第264条、第347条"."""
    try:
        items = split_list(text, is_complete=is_complete)
        return [read_label(item, shape.labels)[0] for item in items] or None
    except UnreadableError:
        return None


def _clean_prose(statement: str) -> str | None:
    text = statement.removesuffix(CUT).strip().strip("`").strip()
    text = re.sub(r"[\s,]*\}[\s`]*$", "", text)
    if len(text) > 1 and text[0] in "\"'“" and text[-1] in "\"'”":
        text = text[1:-1]
    repeated = text.lstrip("\"'“").startswith(PLACEHOLDER)
    return None if repeated or text.casefold() in ("", "null", "none") else text
