"""Replies turned into values: strict JSON, then a repair library, then extraction by pattern, then invalid.

What each rung may do, and where it stops:

- strict: the text, a reasoning block aside, is one JSON object that fits the schema as it is.
- repaired: the same object after repair of form: fences, quotes, commas, case of labels, "70%" for 70, a wrapper.
- extracted: the values are in words ("Prediction: YES", "Yes, because ..."), each once or always the same way.
- invalid: anything else. "UNKNOWN" is not NO, "YES or NO" is not YES, two objects that disagree are no answer, and
  neither is a repetition of the instruction.

Each field is read by itself. One that the schema marks `MAY_BE_MISSING` costs the answer nothing where it is absent,
unreadable, or stated in two ways: it is left out of the value and named in `Parsed.missing`. Any other field makes the
reply invalid, even an optional one. Bounds on lengths and numbers of items refuse nothing.

A fraction above 0 and up to 1.0 where 0 to 100 is asked is unreadable: 0.7 may mean 0.7 or 70. "0.7%" and "70%" are
clear.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from moot.llm.parsing.answer import refuse_unusable, without_reasoning
from moot.llm.parsing.objects import FULL_WIDTH, Candidate, candidates, close_torn, load
from moot.llm.parsing.schema import PLACEHOLDER, Shape, describe_schema, json_schema, schema_fields
from moot.llm.parsing.stated import agreed, stated_by_field
from moot.llm.parsing.values import (
    NOT_GIVEN,
    Notes,
    Status,
    Unclear,
    collected,
    read_object,
    read_value,
    unwrapped,
    validated,
    writable,
)
from moot.llm.parsing.words import EchoError, Label, UnreadableError, announced, mentioned, plain, read_label

__all__ = ["Parsed", "describe_schema", "json_schema", "parse_label", "parse_reply"]

DECISIONS = ("label", "integer", "number", "flag")
BARE_NUMBER = r"(?<![\d.–-])(?<!\bto )(?<!\bor )(?<!\band )\d+(?:\.\d+)?"
NO_RANGE = r"(?!\.?\d|\s?[-–—]\s?\d|\s(?:to|or)\s\d)"
CONFIDENCES = [
    rf"({BARE_NUMBER}\s?%)\s*(?:confidence|confident|sure|certain)\b",
    rf"\bconfidence(?: level| score)? (?:of|is|at) (?:about |around )?({BARE_NUMBER}(?:\s?%)?){NO_RANGE}",
]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a reply says.

    Attributes:
        value: by the schema's field names, without what is missing; None if invalid.
        status: the rung of the ladder.
        problem: one line, why not strict.
        missing: which side fields are missing, path to problem: {"factors[0].weight": "'none' is not one of ..."}.
        shares: numbers as written that may be shares of 1 where 0 to 100 is asked, by path.
    """

    value: dict[str, Any] | None
    status: Status
    problem: str
    missing: dict[str, str] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)


def parse_reply(text: str, schema: type[BaseModel]) -> Parsed:
    """Read `text` as an instance of `schema`; a dump of it in JSON types is the value. Never raises for any text."""
    try:
        return _climb(writable(text), schema)
    except UnreadableError as problem:
        return Parsed(None, "invalid", str(problem))
    except RecursionError:
        return Parsed(None, "invalid", "nested too deeply")


def parse_label(text: str, labels: tuple[str, ...] | list[str]) -> Parsed:
    """Read `text` as one of `labels`, no JSON asked: `value` is {"prediction": label}. Never raises for any text."""
    choices = tuple(labels)
    cleaned = writable(text)
    answer = without_reasoning(cleaned).strip()
    try:
        refuse_unusable(cleaned, answer)
        if answer in choices:
            return Parsed({"prediction": answer}, "strict", "")
        label, exact = _label_of(answer, choices)
    except UnreadableError as problem:
        return Parsed(None, "invalid", str(problem))
    return Parsed(
        {"prediction": label}, "repaired" if exact else "extracted", "the label stands in other words or marks"
    )


def _climb(text: str, schema: type[BaseModel]) -> Parsed:
    answer = text.strip()
    whole = load(answer)
    if whole is None:
        answer = without_reasoning(text).strip()
        whole = load(answer)
    refuse_unusable(text, answer)
    notes = Notes()
    if isinstance(whole, str):
        notes.add("a JSON text within a JSON string")
        answer = whole
        whole = load(answer)
    if isinstance(whole, list):
        whole = _only_list(schema, whole, notes)
    if isinstance(whole, dict):
        return _parsed(schema, whole, notes)
    if "{" not in answer and "｛" in answer:
        answer = answer.translate(FULL_WIDTH)
    if text[-1].isspace():
        answer += " "  # a number before it is whole, even where the reply breaks off
    answer = close_torn(answer)
    if "{" not in answer and (tagged := list(_tags(schema).finditer(answer))):
        return _from_tags(schema, answer, tagged)
    found = _repaired(answer, schema)
    return found or _extracted(answer, schema)


def _only_list(schema: type[BaseModel], items: list[Any], notes: Notes) -> Any:
    """A bare list of labels as the one field that asks for it."""
    lists = [shape.key for shape in schema_fields(schema).values() if shape.kind == "list" and not shape.may_be_missing]
    if len(lists) != 1 or not items or not all(isinstance(item, str | int) for item in items):
        return items
    notes.add("a bare list")
    return {lists[0]: items}


@lru_cache(maxsize=256)
def _tags(schema: type[BaseModel]) -> re.Pattern[str]:
    keys = "|".join(re.escape(shape.key) for shape in schema_fields(schema).values())
    return re.compile(rf"<({keys})>([^<>]*)</\1>", re.IGNORECASE)


def _from_tags(schema: type[BaseModel], text: str, tagged: list[re.Match[str]]) -> Parsed:
    """The fields of `<prediction>YES</prediction><confidence>70</confidence>`."""
    found: dict[str, Any] = {}
    for match in tagged:
        key, value = plain(match[1]), match[2].strip()
        found[key] = value if found.get(key, value) == value else Unclear((found[key], value))
    edges = [0, *(edge for match in tagged for edge in match.span()), len(text)]
    outside = "\n".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    return _compared(schema, _parsed(schema, found, Notes(["tags for an object"])), outside)


def _parsed(schema: type[BaseModel], found: dict[str, Any], notes: Notes) -> Parsed:
    value = validated(schema, read_object(schema, unwrapped(schema, found, notes), notes))
    return Parsed(value, notes.status, notes.problem, notes.missing, notes.shares)


def _without(parsed: Parsed, schema: type[BaseModel], name: str, problem: str) -> Parsed:
    """`parsed` without a field that may be missing. Raises UnreadableError for any other, and where nothing is left."""
    rest = {other: value for other, value in (parsed.value or {}).items() if other != name}
    if not schema_fields(schema)[name].may_be_missing or not rest:
        raise UnreadableError(f"{name}: {problem}")
    whole = "; ".join(filter(None, [parsed.problem, f"{name} missing ({problem})"]))
    status = "repaired" if parsed.status == "strict" else parsed.status
    return replace(
        parsed, value=rest, status=status, problem=whole, missing={**parsed.missing, name: problem}, shares={}
    )


def _repaired(text: str, schema: type[BaseModel]) -> Parsed | None:
    """The value of the objects in `text`, if they agree on one.

    None if there is none, or one that no repair makes readable; raises UnreadableError where JSON says something else.
    """
    accepted: list[Parsed] = []
    found = list(candidates(text, schema))
    for candidate in found:
        segment = text[candidate.start : candidate.end]
        notes = Notes(["the object stands among other text" if candidate.well_formed else "the JSON is repaired"])
        try:
            parsed = _parsed(schema, candidate.found, notes)
            if not candidate.well_formed:
                parsed = _without_invented(schema, parsed, candidate, segment)
        except EchoError:
            continue
        except UnreadableError:
            if candidate.well_formed:
                raise
            if _repeats_form(schema, segment):
                continue
            return None
        accepted.append(parsed)
    if not accepted:
        return None
    parsed = accepted[-1]
    for name, shape in schema_fields(schema).items():
        stated = [(other.value or {}).get(name) for other in accepted]
        if shape.kind != "text" and any(value != stated[0] for value in stated):
            parsed = _without(parsed, schema, name, "objects that disagree")
    return _compared(schema, parsed, _outside(text, found))


def _repeats_form(schema: type[BaseModel], segment: str) -> bool:
    """Whether every label and number in `segment` is a placeholder or the whole choice."""
    fields = schema_fields(schema)
    stated = {name: said for name, said in stated_by_field(segment, schema).items() if fields[name].kind in DECISIONS}
    try:
        return bool(stated) and all(agreed(fields[name], said) is None for name, said in stated.items())
    except UnreadableError:
        return False


def _outside(text: str, found: list[Candidate]) -> str:
    edges = [0, *(edge for candidate in found for edge in (candidate.start, candidate.end)), len(text)]
    return "\n".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def _without_invented(schema: type[BaseModel], parsed: Parsed, candidate: Candidate, segment: str) -> Parsed:
    """A repair library guesses: a label or a number that it gives must also be what follows the key."""
    stated = stated_by_field(segment.translate(FULL_WIDTH), schema)
    found = {plain(key): value for key, value in unwrapped(schema, candidate.found, Notes()).items()}
    for name, shape in schema_fields(schema).items():
        if plain(shape.key) not in found or shape.kind == "text" or name in parsed.missing:
            continue
        try:
            if shape.kind in DECISIONS:
                known = agreed(shape, stated.get(name, [])) == (parsed.value or {})[name]
            else:
                known = all(_stands_in(leaf, segment) for leaf in _leaves(found[plain(shape.key)]))
        except UnreadableError:
            known = False
        if not known:
            parsed = _without(parsed, schema, name, "a repair would have to guess")
    return parsed


def _leaves(value: Any) -> Iterator[str | int | float | bool]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif value is not None:
        yield value


def _stands_in(leaf: str | float | bool, segment: str) -> bool:
    if isinstance(leaf, str):
        return not leaf.split() or leaf.split()[0] in segment or bool(mentioned(segment, (leaf,)))
    if isinstance(leaf, bool):
        return bool(mentioned(segment, ("true", "yes") if leaf else ("false", "no")))
    return re.search(rf"(?<![\d.]){re.escape(f'{leaf:g}')}(?:\.0+)?(?![\d])", segment) is not None


def _compared(schema: type[BaseModel], parsed: Parsed, outside: str) -> Parsed:
    """`parsed` compared with the words around its object: they may say no more than what the object leaves out."""
    fields = schema_fields(schema)
    for name, shape in fields.items():
        if _stands_alone(shape, fields) and _announces_another(outside, shape, (parsed.value or {}).get(name)):
            parsed = _without(parsed, schema, name, "the object and the text beside it disagree")
    for name, statements in stated_by_field(outside, schema).items():
        shape = fields[name]
        if shape.kind not in DECISIONS:
            continue
        if parsed.missing.get(name) == NOT_GIVEN:
            parsed = _with_stated(parsed, name, shape, statements)
            continue
        for statement in statements:
            stated = (parsed.value or {}).get(name)
            try:
                said = read_value(shape, statement, Notes())
            except UnreadableError:
                continue
            if stated is not None and said != stated:
                parsed = _without(parsed, schema, name, "the object and the text beside it disagree")
    return parsed


def _stands_alone(shape: Shape, fields: dict[str, Shape]) -> bool:
    """Whether a field is the one label or the one number that is asked for, so that words need not name it."""
    return shape.required and sum(other.kind == shape.kind for other in fields.values()) == 1


def _announces_another(outside: str, shape: Shape, label: Label | None) -> bool:
    """Whether words such as "my answer is" give another label than `label`."""
    if shape.kind != "label" or label is None:
        return False
    try:
        return any(said != label for said in announced(outside, shape.labels))
    except UnreadableError:  # labels are named, and none is chosen
        return False


def _with_stated(parsed: Parsed, name: str, shape: Shape, statements: list[str]) -> Parsed:
    """`parsed` with a missing field as the words around its object state it, if they do so in one way."""
    try:
        said = agreed(shape, statements)
    except UnreadableError:
        return parsed
    if said is None:
        return parsed
    missing = {place: problem for place, problem in parsed.missing.items() if place != name}
    problem = parsed.problem.replace(f"{name} missing ({NOT_GIVEN})", f"{name} stands beside the object")
    value = {**(parsed.value or {}), shape.key: said}
    return replace(parsed, value=value, status="extracted", problem=problem, missing=missing)


def _extracted(text: str, schema: type[BaseModel]) -> Parsed:
    """The fields of `schema` as the words of `text` state them."""
    stated = stated_by_field(text, schema)
    fields = schema_fields(schema)

    found_in_words: list[str] = []

    def read(shape: Shape, name: str, notes: Notes) -> Any:
        found = None
        if shape.kind in DECISIONS:
            found = agreed(shape, stated.get(name, []), notes)
            found = _unnamed(name, shape, fields, text, notes) if found is None else found
        elif shape.kind == "list" and shape.required and not stated:
            found = _unnamed(name, shape, fields, text, notes)
        elif shape.kind == "text" and len(stated.get(name, [])) == 1:
            found = _prose(stated[name][0])
        if found is None and shape.required:
            raise UnreadableError("not stated in words")
        if found is None:
            return shape.default
        found_in_words.append(name)
        return found

    notes = Notes(["no JSON object; read from the words"], in_words=True)
    value = collected(schema, {name: name for name in fields}, read, notes)
    if not found_in_words:
        raise UnreadableError("no JSON object, and no field is stated in words")
    return Parsed(validated(schema, value), notes.status, notes.problem, notes.missing, notes.shares)


def _unnamed(name: str, shape: Shape, fields: dict[str, Shape], text: str, notes: Notes) -> Any:
    """A value that is stated without its field's name: "The answer is YES", "70% confident", "I give it 8/10"."""
    alone = _stands_alone(shape, fields)
    if shape.kind == "label" and alone:
        return _label_of(text, shape.labels)[0]
    if shape.kind == "list" and shape.item and shape.item.kind == "label":
        return _listed(shape.item, text)
    if shape.kind in ("integer", "number"):
        patterns = CONFIDENCES if name == "confidence" else []
        if alone and shape.high is not None and shape.high > 1:
            patterns = [*patterns, rf"({BARE_NUMBER}\s?(?:/|out of)\s?{shape.high:g}){NO_RANGE}"]
        stated = [said for pattern in patterns for said in re.findall(pattern, text, re.IGNORECASE)]
        return agreed(shape, stated, notes)
    return None


def _listed(shape: Shape, text: str) -> list[Label] | None:
    """The labels that `text` lists, if it does nothing else: "第264条、第347条"."""
    items = [item for item in re.split(r"[、，,;；\n]", text.strip(" .。[]")) if item.strip()]
    try:
        return [read_label(item, shape.labels)[0] for item in items] or None
    except UnreadableError:
        return None


def _label_of(text: str, labels: tuple[Label, ...]) -> tuple[Label, bool]:
    """The label that `text` is, opens with or announces, and whether it is nothing else."""
    try:
        return read_label(text, labels)
    except UnreadableError:
        answers = list(dict.fromkeys(announced(text, labels)))
        if len(answers) != 1:
            raise
        return answers[0], False


def _prose(statement: str) -> str | None:
    text = statement.strip().strip("`").strip()
    text = re.sub(r"[\s,]*\}[\s`]*$", "", text)
    if len(text) > 1 and text[0] in "\"'“" and text[-1] in "\"'”":
        text = text[1:-1]
    repeated = text.lstrip("\"'“").startswith(PLACEHOLDER)
    return None if repeated or text.casefold() in ("", "null", "none") else text
