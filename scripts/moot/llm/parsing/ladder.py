"""Replies turned into values: strict JSON, then a repair library, then extraction by pattern, then
invalid.

The rungs and their limits:

- strict: the text, a reasoning block aside, is one JSON object that fits the schema as it is.
- repaired: the same object after repair of form: fences, quotes, commas, case of labels, "70%" for
    70, a wrapper.
- extracted: the values are in words ("Prediction: YES", "Yes, because ..."), each once or always
    the same way.
- invalid: anything else. "UNKNOWN" is not NO, "YES or NO" is not YES, two objects that disagree are
  no answer, and neither is a repetition of the instruction.

Each field is read separately. If a field with the mark `MAY_BE_MISSING` is absent, unreadable or
ambiguous, it is left out of the value and listed in `Parsed.missing`. Any other such field makes
the reply invalid, even an optional one. Bounds on lengths and numbers of items are not enforced.

If 0 to 100 is asked, a number above 0 and up to 1.0 is unreadable: 0.7 may mean 0.7 or 70. "0.7%"
and "70%" are clear.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

from pydantic import BaseModel

from moot.core.types import Json, JsonObject
from moot.llm.parsing.articles import split_list
from moot.llm.parsing.conclusions import (
    find_announced,
    find_label,
    is_taken_back,
    is_thinking_aloud,
)
from moot.llm.parsing.normaliser import has_end_token, strip_thoughts, strip_tokens
from moot.llm.parsing.objects import FULL_WIDTH, Candidate, close_torn, find_candidates, load_json
from moot.llm.parsing.plain_text import CUT, EchoError, UnreadableError, fold_text
from moot.llm.parsing.schema import PLACEHOLDER, Shape, describe_schema, json_schema, schema_fields
from moot.llm.parsing.stated_number import find_only_number, read_rating
from moot.llm.parsing.values import (
    NOT_STATED,
    Notes,
    Status,
    Unclear,
    clean_text,
    collect_fields,
    find_statements,
    first_line,
    number_aliases,
    read_agreed,
    read_object,
    read_value,
    unwrap_object,
    validate_value,
)
from moot.llm.parsing.words import (
    EXPLANATION,
    PERSONS,
    Label,
    find_mentions,
    match_opening,
    read_label,
)

__all__ = ["Parsed", "describe_schema", "json_schema", "parse_label", "parse_reply"]

MAX_REPLY_CHARS = 200_000
DECISIONS = ("label", "integer", "number", "flag")
BARE_NUMBER = r"(?<![\d.–-])(?<!\bto )(?<!\bor )(?<!\band )\d+(?:\.\d+)?"
NO_RANGE = r"(?!\.?\d|\s?[-–—]\s?\d|\s(?:to|or)\s\d)"
_ESCAPED_OBJECT = re.compile(r'\{(?:\s|\\n)*\\"')
_OTHERS_CONFIDENCE = re.compile(
    r"(?:\bnot|n['’]t|\bless than|\bat most)\s+(?:about\s+)?$"
    rf"|\b(?:{'|'.join(PERSONS)})\s+(?:is|are|was|were)\s+(?:\w+\s+)?$",
    re.IGNORECASE,
)
"""Words before a confidence that deny it or give it to another person."""
CONFIDENCES = [
    rf"({BARE_NUMBER}\s?%)\s*(?:confidence|confident|sure|certain)\b",
    (
        r"\bconfidence(?: level| score)? (?:of|is|at) (?:about |around"
        rf" )?({BARE_NUMBER}(?:\s?%)?){NO_RANGE}"
        r"(?!\s*(?:/|(?:out )?of|in)\s*(?!100\b)\d)"
    ),
]


@dataclass(frozen=True, slots=True)
class Parsed:
    """The values of a reply.

    Attributes:
        value: by the schema's field names, without what is missing; None if invalid.
        status: the rung of the ladder.
        problem: why the reply is not strict, one line.
        missing: the problem of each missing side field, by path: {"factors[0].weight": "'none' is
            not one of ..."}.
        bare_numbers: numbers without a scale, as written, if 0 to 100 is asked, by path.
    """

    value: JsonObject | None
    status: Status
    problem: str
    missing: dict[str, str] = field(default_factory=dict)
    bare_numbers: dict[str, float] = field(default_factory=dict)


def parse_reply(text: str, schema: type[BaseModel], *, is_cut: bool = False) -> Parsed:
    """Read `text` as an instance of `schema`; the value is a dump of it in JSON types.

    No text raises an error.

    Args:
        text: a reply.
        schema: the requested form.
        is_cut: whether the server cut the reply off at the limit of tokens, so that the last word
            may be incomplete.
    """
    try:
        reading = _read_reply(clean_text(text), schema, is_cut=is_cut)
    except UnreadableError as problem:
        return Parsed(None, "invalid", str(problem))
    except RecursionError:
        return Parsed(None, "invalid", "nested too deeply")
    return Parsed(
        reading.value,
        reading.notes.status,
        reading.notes.problem,
        reading.notes.missing,
        reading.notes.bare_numbers,
    )


def parse_label(text: str, labels: Sequence[str], *, is_cut: bool = False) -> Parsed:
    """Read `text` as one of `labels` without JSON; the value is {"prediction": label}.

    No text raises an error. For `is_cut` see `parse_reply`.
    """
    clean = clean_text(text)
    answer = strip_tokens(strip_thoughts(clean))
    breaks_off = is_cut or (answer.endswith(" ") and "\n" in answer.strip())
    answer = _mark_cut(answer.rstrip(" "), clean, is_cut=breaks_off).strip()
    try:
        _refuse_unusable(clean, answer)
        _refuse_cut_thought(clean, answer, is_cut=is_cut)
        if answer in labels:
            return Parsed({"prediction": answer}, "strict", "")
        label, exact = find_label(answer, tuple(labels))
    except UnreadableError as problem:
        return Parsed(None, "invalid", str(problem))
    status: Status = "repaired" if exact else "extracted"
    return Parsed({"prediction": label}, status, "the label stands in other words or marks")


def _mark_cut(answer: str, text: str, *, is_cut: bool) -> str:
    """Return `answer` with a mark at its end if its last word may be incomplete."""
    is_open = is_cut and answer.strip() and not answer[-1].isspace() and not has_end_token(text)
    return f"{answer}{CUT}" if is_open else answer


def _without_reasoning(text: str) -> str:
    return re.sub(r"<\|(?:end|return|im_end|eot_id)\|>\s*$", "", strip_thoughts(text))


def _refuse_unusable(text: str, answer: str) -> None:
    if not answer:
        raise UnreadableError("only reasoning, no answer" if text.strip() else "empty reply")
    if len(answer) > MAX_REPLY_CHARS:
        raise UnreadableError(f"{len(answer)} characters, more than any answer has")


def _refuse_cut_thought(text: str, answer: str, *, is_cut: bool) -> None:
    """Raise UnreadableError if the server cut off a reply that opens by thinking aloud.

    The next sentence may withdraw the statements of such a thought. An object at the end of the
    reply is an answer.
    """
    is_thought = is_cut and not has_end_token(text) and is_thinking_aloud(answer)
    if is_thought and re.search(r"\w", answer.rpartition("}")[2]):
        raise UnreadableError("the reply thinks aloud and is cut off before its answer")


@dataclass(frozen=True, slots=True)
class _Reading:
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

    def fill_in(self, name: str, statements: list[str]) -> None:
        """Fill in a missing field from the words around the object, if they state it
        unambiguously.
        """
        shape = schema_fields(self.schema)[name]
        try:
            value = read_agreed(shape, statements)
        except UnreadableError:
            return
        if value is not None:
            self.value[name] = value
            del self.notes.missing[name]
            self.notes.add(f"{name} stands beside the object", in_words=True)

    def refuse_if_taken_back(self, text: str) -> None:
        """Raise UnreadableError if `text`, which follows the values, withdraws a label."""
        for name, shape in schema_fields(self.schema).items():
            if shape.kind == "label" and is_taken_back(text, shape.labels, self.value.get(name)):
                raise UnreadableError("the words after the object take it back")

    def compare_with(self, outside: str) -> "_Reading":
        """Compare with the words around the object.

        They may only add fields that the object leaves out.
        """
        fields = schema_fields(self.schema)
        problem = "the object and the text beside it disagree"
        for name, shape in fields.items():
            if _is_only_of_kind(shape, fields) and _announces_another(
                outside, shape, self.value.get(name)
            ):
                self.leave_out(name, problem)
        for name, statements in find_statements(outside, self.schema).items():
            if fields[name].kind not in DECISIONS:
                continue
            if self.notes.missing.get(name) == NOT_STATED:
                self.fill_in(name, statements)
                continue
            for statement in statements:
                try:
                    value = read_value(fields[name], statement, Notes())
                except UnreadableError:
                    continue
                if self.value.get(name) not in (None, value):
                    self.leave_out(name, problem)
        return self


def _read_reply(text: str, schema: type[BaseModel], *, is_cut: bool) -> _Reading:
    answer = text.strip()
    document = load_json(answer)
    if document is None:
        answer = _without_reasoning(text).strip()
        document = load_json(answer) or _unescape(answer)
    _refuse_unusable(text, answer)
    notes = Notes()
    if isinstance(document, str):
        notes.add("a JSON text within a JSON string")
        answer = document
        document = load_json(answer)
    if isinstance(document, list):
        document = _wrap_list(schema, document, notes)
    if isinstance(document, dict):
        return _read_fields(schema, document, notes)
    _refuse_cut_thought(text, answer, is_cut=is_cut)
    if "{" not in answer and "｛" in answer:
        answer = answer.translate(FULL_WIDTH)
    if text[-1].isspace():
        answer += " "  # a number before the cut is complete, even if the reply breaks off
    answer = close_torn(answer)
    if "{" not in answer and (tags := list(_tag_pattern(schema).finditer(answer))):
        return _read_tags(schema, answer, tags)
    reading = _read_objects(answer, schema)
    if reading is not None:
        return reading
    words = _mark_cut(strip_tokens(answer), text, is_cut=is_cut and "{" not in answer)
    return _Words(words, schema, is_complete=has_end_token(text)).read()


def _unescape(text: str) -> Json:
    r"""Return the JSON text within `{\"prediction\": ...}`; None for any other text."""
    return load_json(f'"{text}"') if _ESCAPED_OBJECT.match(text) else None


def _wrap_list(schema: type[BaseModel], items: list[Json], notes: Notes) -> Json:
    lists = [
        shape.key
        for shape in schema_fields(schema).values()
        if shape.kind == "list" and not shape.may_be_missing
    ]
    if len(lists) != 1 or not items or not all(isinstance(item, str | int) for item in items):
        return items
    notes.add("a bare list")
    return {lists[0]: items}


@lru_cache(maxsize=256)
def _tag_pattern(schema: type[BaseModel]) -> re.Pattern[str]:
    keys = "|".join(re.escape(shape.key) for shape in schema_fields(schema).values())
    return re.compile(rf"<({keys})>([^<>]*)</\1>", re.IGNORECASE)


def _read_tags(schema: type[BaseModel], text: str, tags: list[re.Match[str]]) -> _Reading:
    """Return the fields of `<prediction>YES</prediction><confidence>70</confidence>`."""
    values: JsonObject = {}
    for match in tags:
        key, value = fold_text(match[1]), match[2].strip()
        values[key] = value if values.get(key, value) == value else Unclear((values[key], value))
    reading = _read_fields(schema, values, Notes(["tags for an object"]))
    reading.refuse_if_taken_back(text[tags[-1].end() :])
    return reading.compare_with(_text_outside(text, [match.span() for match in tags]))


def _text_outside(text: str, spans: list[tuple[int, int]]) -> str:
    edges = [0, *chain.from_iterable(spans), len(text)]
    return "\n".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def _read_fields(schema: type[BaseModel], values: JsonObject, notes: Notes) -> _Reading:
    value = validate_value(schema, read_object(schema, unwrap_object(schema, values, notes), notes))
    return _Reading(schema, value, notes)


def _read_objects(text: str, schema: type[BaseModel]) -> _Reading | None:
    """Return the value of the objects in `text`, if they agree on one.

    None if there is no object, or if one stays unreadable after repair. UnreadableError is raised
    if other JSON contradicts.
    """
    readings: list[_Reading] = []
    objects = list(find_candidates(text, schema))
    for candidate in objects:
        segment = text[candidate.start : candidate.end]
        notes = Notes(
            [
                (
                    "the object stands among other text"
                    if candidate.well_formed
                    else "the JSON is repaired"
                )
            ]
        )
        try:
            reading = _read_fields(schema, candidate.values, notes)
            if not candidate.well_formed:
                _leave_out_invented(reading, candidate, segment)
        except EchoError:
            continue
        except UnreadableError:
            if candidate.well_formed:
                raise
            return None
        readings.append(reading)
    if not readings:
        return None
    for name, shape in schema_fields(schema).items():
        values = [reading.value.get(name) for reading in readings]
        if shape.kind != "text" and any(value != values[0] for value in values):
            readings[-1].leave_out(name, "objects that disagree")
    readings[-1].refuse_if_taken_back(text[objects[-1].end :])
    return readings[-1].compare_with(
        _text_outside(text, [(candidate.start, candidate.end) for candidate in objects])
    )


def _leave_out_invented(reading: _Reading, candidate: Candidate, segment: str) -> None:
    """Require that a label or number of a repaired object follows its key in the text.

    A repair library guesses values.
    """
    statements = find_statements(segment.translate(FULL_WIDTH), reading.schema)
    values = {
        fold_text(key): value
        for key, value in unwrap_object(reading.schema, candidate.values, Notes()).items()
    }
    if number_aliases(reading.schema).keys() & values.keys():
        reading.leave_out(str(find_only_number(reading.schema)), "a repair would have to guess")
    for name, shape in schema_fields(reading.schema).items():
        if (
            fold_text(shape.key) not in values
            or shape.kind == "text"
            or name in reading.notes.missing
        ):
            continue
        try:
            if shape.kind in DECISIONS:
                is_stated = read_agreed(shape, statements.get(name, [])) == reading.value[name]
            else:
                is_stated = _words(values[fold_text(shape.key)]) <= _words(segment)
        except UnreadableError:
            is_stated = False
        if not is_stated:
            reading.leave_out(name, "a repair would have to guess")


def _words(value: Json) -> set[str]:
    return set(re.findall(r"\w+", json.dumps(value, ensure_ascii=False).casefold()))


def _is_only_of_kind(shape: Shape, fields: dict[str, Shape]) -> bool:
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


@dataclass(frozen=True, slots=True)
class _Words:
    """A reply in words, from which the fields of a schema are read.

    Attributes:
        text: the reply.
        schema: the requested form.
        is_complete: whether an end token shows that the reply is whole.
    """

    text: str
    schema: type[BaseModel]
    is_complete: bool

    def read(self) -> _Reading:
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
        return _Reading(self.schema, validate_value(self.schema, value), notes)

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
        return shape.kind == "label" and _is_only_of_kind(shape, schema_fields(self.schema))

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
        patterns = CONFIDENCES if name == "confidence" else []
        is_only = _is_only_of_kind(shape, schema_fields(self.schema))
        if is_only and shape.high is not None and shape.high > 1:
            patterns = [*patterns, rf"({BARE_NUMBER}\s?(?:/|out of)\s?{shape.high:g}){NO_RANGE}"]
        quantities: list[str] = []
        for pattern in patterns:
            quantities += [
                match[1]
                for match in re.finditer(pattern, self.text, re.IGNORECASE)
                if not _OTHERS_CONFIDENCE.search(self.text[: match.start()][-60:])
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
