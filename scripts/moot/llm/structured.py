"""Replies turned into values: strict JSON, then a repair library, then extraction by pattern, then invalid.

What each rung may do, and where it stops:

- strict: the text, a reasoning block aside, is one JSON object that fits the schema as it is.
- repaired: the same object after repair of form: fences, quotes, commas, case of labels, "70%" for 70, a wrapper.
- extracted: the values stand in words ("Prediction: YES", "Yes, because ..."), each once or always the same way.
- invalid: anything else. "UNKNOWN" is not NO, "YES or NO" is not YES, two objects that disagree are no answer, and
  neither is a repetition of the instruction. A field that is stated but unreadable makes the reply invalid, even an
  optional one.

A fraction above 0 and up to 1.0 where 0 to 100 is asked is invalid: 0.7 may mean 0.7 or 70. "0.7%" and "70%" are clear.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import json_repair
from pydantic import BaseModel

from moot.llm.fields import PLACEHOLDER, Shape, describe_schema, fields_of, json_schema
from moot.llm.reading import EchoError, Label, UnreadableError, announced, mentioned, plain, read_label
from moot.llm.statements import agreed, statements_of
from moot.llm.values import Notes, Status, Unclear, read_object, read_value, unwrapped, validated, writable

__all__ = ["Parsed", "describe_schema", "json_schema", "parse_label", "parse_reply"]

REASONING = [
    re.compile(r"^\s*(?:<(think|thinking|thought|reasoning|analysis)>.*?</\1>\s*)+", re.DOTALL | re.IGNORECASE),
    re.compile(r"^.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE),
    re.compile(r"^.*<\|channel\|>final<\|message\|>", re.DOTALL),
    re.compile(r"^\s*◁think▷.*?◁/think▷", re.DOTALL),
    re.compile(r"^\s*(?:<(?:think|thinking|thought|reasoning)>|◁think▷).*$", re.DOTALL | re.IGNORECASE),
]
FULL_WIDTH = str.maketrans("｛｝［］：，“”＂", '{}[]:,"""')
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|$)|[{}\[\]]', re.DOTALL)
LARGEST_REPLY = 200_000
LARGEST_REPAIR = 20_000
MOST_OBJECTS = 30
DECISIONS = ("label", "integer", "number", "flag")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a reply says: `value` by the schema's field names (None if invalid); `problem`: one line, why not strict."""

    value: dict[str, Any] | None
    status: Status
    problem: str


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
    answer = _without_reasoning(cleaned).strip()
    try:
        _refuse_unusable(cleaned, answer)
        if answer in choices:
            return Parsed({"prediction": answer}, "strict", "")
        label, exact = _label_of(answer, choices)
    except UnreadableError as problem:
        return Parsed(None, "invalid", str(problem))
    return Parsed(
        {"prediction": label}, "repaired" if exact else "extracted", "the label stands in other words or marks"
    )


def _without_reasoning(text: str) -> str:
    for pattern in REASONING:
        text = pattern.sub("", text, count=1)
    return re.sub(r"<\|(?:end|return|im_end|eot_id)\|>\s*$", "", text)


def _refuse_unusable(text: str, answer: str) -> None:
    if not answer:
        raise UnreadableError("only reasoning, no answer" if text.strip() else "empty reply")
    if len(answer) > LARGEST_REPLY:
        raise UnreadableError(f"{len(answer)} characters, more than any answer has")


def _climb(text: str, schema: type[BaseModel]) -> Parsed:
    answer = text.strip()
    whole = _load(answer)
    if whole is None:
        answer = _without_reasoning(text).strip()
        whole = _load(answer)
    _refuse_unusable(text, answer)
    notes = Notes()
    if isinstance(whole, str):
        notes.add("a JSON text within a JSON string")
        answer = whole
        whole = _load(answer)
    if isinstance(whole, dict):
        return _parsed(schema, whole, notes)
    if "{" not in answer and "｛" in answer:
        answer = answer.translate(FULL_WIDTH)
    if text[-1].isspace():
        answer += " "  # a number before it is whole, even where the reply breaks off
    answer = _close_torn(answer)
    found = _repaired(answer, schema)
    return found or _extracted(answer, schema)


def _parsed(schema: type[BaseModel], found: dict[str, Any], notes: Notes) -> Parsed:
    value = validated(schema, read_object(schema, unwrapped(schema, found, notes), notes))
    return Parsed(value, notes.status, "; ".join(notes.repairs))


def _load(text: str) -> Any:
    """The JSON value of the whole `text`, or None; a key that is stated twice with two values is kept as an Unclear."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except ValueError:
        return None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = value if key not in found or found[key] == value else Unclear((found[key], value))
    return found


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One object in a text: where it stands, its values, and whether it was JSON before repair."""

    start: int
    end: int
    found: dict[str, Any]
    well_formed: bool


def _close_torn(text: str) -> str:
    """`text`, with what a cut-off object ends in marked as unfinished: "confidence": 8 may have been going to be 85.

    Raises UnreadableError for a list that is cut off, since nobody knows what else was to be in it.
    """
    start = text.find("{")
    if start < 0 or _closing_brace(text, start):
        return text
    tokens = [match.group() for match in TOKEN.finditer(text, start)]
    if tokens.count("[") > tokens.count("]"):
        raise UnreadableError("cut off within a list")
    if text.rstrip().endswith(("}", "`")):
        return text
    if tokens[-1].startswith('"') and not re.fullmatch(r'"(?:[^"\\]|\\.)*+"', tokens[-1], re.DOTALL):
        return f'{text}…"'
    return re.sub(r"[\w.+%-]+\Z", '"…"', text)


def _closing_brace(text: str, start: int) -> int:
    """The place after the brace that closes the one at `start`, strings respected; 0 if there is none."""
    depth = 0
    for token in TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token.group(), 0)
        if depth == 0 and token.group() == "}":
            return token.end()
    return 0


def _candidates(text: str, schema: type[BaseModel]) -> Iterator[_Candidate]:
    """The outermost objects of `text` that have a field of `schema`, repaired where they need it."""
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant)
    position = 0
    for _ in range(MOST_OBJECTS):
        start = text.find("{", position)
        if start < 0:
            return
        try:
            found, end = decoder.raw_decode(text, start)
            well_formed = True
        except ValueError:
            end = _closing_brace(text, start) or text.rfind("}", start) + 1 or len(text)
            found, well_formed = _repair(text[start:end], schema), False
        if _concerns(schema, found):
            yield _Candidate(start, end, found, well_formed)
            position = end
        else:
            position = end if well_formed else start + 1


def _concerns(schema: type[BaseModel], found: Any) -> bool:
    keys = {plain(shape.key) for shape in fields_of(schema).values()}
    return isinstance(found, dict) and any(plain(key) in keys for key in unwrapped(schema, found, Notes()))


def _repair(segment: str, schema: type[BaseModel]) -> Any:
    """What the repair library makes of `segment`; None for one that names no field, or is too long to be an answer."""
    folded = segment.casefold()
    if len(segment) > LARGEST_REPAIR or not any(shape.key.casefold() in folded for shape in fields_of(schema).values()):
        return None
    try:
        repaired = json_repair.loads(segment)
        return repaired if isinstance(repaired, dict) else json_repair.loads(segment.translate(FULL_WIDTH))
    except Exception:  # the library guesses its way through hostile text, and may trip over any of it
        return None


def _repaired(text: str, schema: type[BaseModel]) -> Parsed | None:
    """The value of the objects in `text`, if they agree on one.

    None if there is none, or one that no repair makes readable; raises UnreadableError where JSON says something else.
    """
    accepted: list[Parsed] = []
    candidates = list(_candidates(text, schema))
    for candidate in candidates:
        segment = text[candidate.start : candidate.end]
        notes = Notes(["the object stands among other text" if candidate.well_formed else "the JSON is repaired"])
        try:
            parsed = _parsed(schema, candidate.found, notes)
            if not candidate.well_formed:
                _refuse_invented(schema, parsed, candidate, segment)
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
    if len({json.dumps(_decisions(schema, parsed.value or {}), sort_keys=True) for parsed in accepted}) > 1:
        raise UnreadableError("objects that disagree")
    _refuse_contradiction(schema, accepted[-1].value or {}, _outside(text, candidates))
    return accepted[-1]


def _repeats_form(schema: type[BaseModel], segment: str) -> bool:
    """Whether every label and number in `segment` is a placeholder or the whole choice."""
    fields = fields_of(schema)
    stated = {name: said for name, said in statements_of(segment, schema).items() if fields[name].kind in DECISIONS}
    try:
        return bool(stated) and all(agreed(fields[name], said) is None for name, said in stated.items())
    except UnreadableError:
        return False


def _outside(text: str, candidates: list[_Candidate]) -> str:
    edges = [0, *(edge for candidate in candidates for edge in (candidate.start, candidate.end)), len(text)]
    return "\n".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def _decisions(schema: type[BaseModel], value: dict[str, Any]) -> dict[str, Any]:
    """`value` without its explanations: two objects agree when these do."""
    return {name: value.get(name) for name, shape in fields_of(schema).items() if shape.kind != "text"}


def _refuse_invented(schema: type[BaseModel], parsed: Parsed, candidate: _Candidate, segment: str) -> None:
    """A repair library guesses: a label or a number that it gives must also be what stands beside the key."""
    stated = statements_of(segment.translate(FULL_WIDTH), schema)
    found = {plain(key): value for key, value in unwrapped(schema, candidate.found, Notes()).items()}
    for name, shape in fields_of(schema).items():
        if plain(shape.key) not in found or shape.kind == "text":
            continue
        if shape.kind in DECISIONS:
            known = agreed(shape, stated.get(name, [])) == (parsed.value or {})[name]
        else:
            known = all(_stands_in(leaf, segment) for leaf in _leaves(found[plain(shape.key)]))
        if not known:
            raise UnreadableError(f"{name}: a repair would have to guess")


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


def _refuse_contradiction(schema: type[BaseModel], value: dict[str, Any], outside: str) -> None:
    for name, statements in statements_of(outside, schema).items():
        shape = fields_of(schema)[name]
        if shape.kind not in DECISIONS or value.get(name) is None:
            continue
        for statement in statements:
            try:
                said = read_value(shape, statement, Notes())
            except UnreadableError:
                continue
            if said != value[name]:
                raise UnreadableError(f"{name}: the object and the text beside it disagree")


def _extracted(text: str, schema: type[BaseModel]) -> Parsed:
    """The fields of `schema` as the words of `text` state them."""
    stated = statements_of(text, schema)
    fields = fields_of(schema)
    value: dict[str, Any] = {}
    for name, shape in fields.items():
        if shape.kind in DECISIONS:
            try:
                found = agreed(shape, stated.get(name, []))
                if found is None:
                    found = _unnamed(name, shape, fields, text)
            except UnreadableError as problem:
                raise type(problem)(f"{name}: {problem}") from None
        elif shape.kind == "text" and len(stated.get(name, [])) == 1:
            found = _prose(stated[name][0])
        else:
            found = None
        if found is not None:
            value[shape.key] = found
        elif shape.required:
            raise UnreadableError(f"no JSON object, and {name} is not stated in words")
    if not value:
        raise UnreadableError("no JSON object, and no field is stated in words")
    return Parsed(validated(schema, value), "extracted", "no JSON object; read from the words")


def _unnamed(name: str, shape: Shape, fields: dict[str, Shape], text: str) -> Any:
    """A label or a confidence that is stated without its field's name: "The answer is YES", "70% confident"."""
    if shape.kind == "label" and shape.required and sum(other.kind == "label" for other in fields.values()) == 1:
        return _label_of(text, shape.labels)[0]
    if name == "confidence" and shape.kind in ("integer", "number"):
        shares = re.findall(
            r"(?<![\d.–-])(\d+(?:\.\d+)?\s?%)\s*(?:confidence|confident|sure|certain)\b", text, re.IGNORECASE
        )
        return agreed(shape, shares)
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
    return None if text.casefold() in ("", "null", "none", PLACEHOLDER) else text
