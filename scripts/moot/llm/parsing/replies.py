"""Replies turned into values, or found to be invalid.

A reply is an object, a label, a number or a list. A reasoning block is removed first. Then the
reply is, for a schema,

1. a JSON object, alone, in a fence or among other text, if necessary repaired by `json_repair`; or
2. for a schema of which one field decides and the others may be missing: the label (`labels`), the
   number (`numbers`) or the list that the words state.

Everything else is invalid, and the model is asked again. The status of a result says how it was
read:

- strict: the text, a reasoning block aside, is one JSON object that fits the schema as it is, or
    the label as it was asked for.
- repaired: the same after repair of form: fences, quotes, commas, case and marks of labels, "70%"
    for 70.
- extracted: read from words.
- invalid: anything else.

A side field (`MAY_BE_MISSING`) that is absent or unreadable is left out of the value and listed in
`Parsed.missing`. Bounds on lengths and numbers of items are for servers that can enforce them, and
are not enforced here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel

from moot.core.types import Json, JsonObject
from moot.llm.parsing.labels import announced_labels, read_label, whole_label
from moot.llm.parsing.numbers import HUNDRED, read_number
from moot.llm.parsing.objects import (
    Values,
    find_objects,
    load_json,
    read_items,
    read_object,
)
from moot.llm.parsing.plain_text import UnreadableError, clean_text
from moot.llm.parsing.schema import Shape, schema_fields

Status = Literal["strict", "repaired", "extracted", "invalid"]
MAX_REPLY_CHARS = 200_000
DECIDING = ("label", "integer", "number", "list")

_REASONING = r"(?:think(?:ing)?|thoughts?|reasoning|analysis|reflection|scratchpad)"
_OPENS = (
    rf"<(?:\w+:)?{_REASONING}>|\[{_REASONING}\]|◁think▷|<\|(?:begin_of_|START_)?{_REASONING}\|>"
)
_CLOSES = (
    rf"</(?:\w+:)?{_REASONING}>|\[/{_REASONING}\]|◁/think▷"
    rf"|<\|(?:end_of_|END_|/){_REASONING}\|>"
)
_REASONING_OPENS = re.compile(rf"{_OPENS}|<\|channel\|>\s*(?:analysis|commentary)", re.IGNORECASE)
_REASONING_CLOSES = re.compile(
    rf"{_CLOSES}|<\|channel\|>\s*final[^{{\n]{{0,80}}<\|message\|>", re.IGNORECASE
)
_TAGGED = re.compile(r"<(\w{1,40})>([^<>]*)</\1>")
_TOKEN = re.compile(r"</?\|?[\w｜▁/]{1,40}\|?>")
"""A tag, or a start or end token of a chat template: "</s>", "<|im_end|>", "<eoa>"."""
_OBJECT = re.compile(r"\{\s*\"")
_FIRST_SENTENCE = re.compile(r"\s*[^\n]*?[.!?。！？\n]|[^:：]*[:：]")
"""The first sentence of a reply that is cut; if that has no end, the words before a colon."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The values of a reply.

    Attributes:
        value: by the schema's field names, without what is missing; None if invalid.
        status: how it was read.
        problem: why the reply is not strict, one line.
        missing: the problem of each missing side field, by path: {"factors[0].weight": "'none' is
            not one of ..."}.
    """

    value: JsonObject | None
    status: Status
    problem: str
    missing: dict[str, str] = field(default_factory=dict)


def strip_reasoning(text: str) -> str:
    """Remove the reasoning block of a reply; nothing remains of one that is not closed."""
    ends = [match.end() for match in _REASONING_CLOSES.finditer(text)]
    text = text[ends[-1] :] if ends else text
    return "" if _REASONING_OPENS.search(text) else text


def parse_reply(
    text: str,
    schema: type[BaseModel],
    *,
    cut_at: int | None = None,
    confidence_scale: int = HUNDRED,
) -> Parsed:
    """Read `text` as an instance of `schema`. No text raises an error.

    Args:
        text: a reply.
        schema: the requested form.
        cut_at: the limit of tokens at which the server cut the reply off.
        confidence_scale: the model's own scale of confidences, 1 or 100.
    """
    try:
        status, values = _read_reply(text, schema, cut_at, confidence_scale)
    except UnreadableError as error:
        return _invalid(error, cut_at)
    missing = [f"{path} missing ({problem})" for path, problem in values.missing.items()]
    problem = "; ".join(dict.fromkeys([*values.repairs, *missing]))
    if problem and status == "strict":
        status = "repaired"
    return Parsed(values.by_name, status, problem, values.missing)


def _read_reply(
    text: str, schema: type[BaseModel], cut_at: int | None, scale: int
) -> tuple[Status, Values]:
    document = load_json(clean_text(text))
    if isinstance(document, dict):  # a JSON text may quote the marks of a reasoning block
        return "strict", read_object(schema, document, scale)
    answer = _answer(text)
    document = load_json(_TOKEN.sub("", answer))
    if isinstance(document, dict):
        return "strict", read_object(schema, document, scale)
    if objects := list(find_objects(answer, schema)):
        return "repaired", _read_objects(answer, objects, schema, scale)
    if _OBJECT.search(answer):
        raise UnreadableError("a JSON object that is cut off or broken")
    return "extracted", _read_words(_words(answer, cut_at), schema, scale)


def parse_label(text: str, labels: Sequence[str], *, cut_at: int | None = None) -> Parsed:
    """Read `text` as one of `labels` without a form; the value is {"prediction": label}.

    No text raises an error. For `cut_at` see `parse_reply`.
    """
    try:
        answer = _words(_answer(text), cut_at)
        document = load_json(answer)
        if isinstance(document, dict) and len(document) == 1:
            answer = str(*document.values())
        elif _OBJECT.search(answer):
            raise UnreadableError("an object where a label is asked for")
        label = read_label(answer, tuple(labels), "label")
    except UnreadableError as problem:
        return _invalid(problem, cut_at)
    if answer.strip() == label:
        return Parsed({"prediction": label}, "strict", "")
    is_whole = whole_label(answer, tuple(labels)) == label
    status: Status = "repaired" if is_whole else "extracted"
    return Parsed({"prediction": label}, status, "the label stands in other words or marks")


def _answer(text: str) -> str:
    answer = strip_reasoning(clean_text(text))
    if not _TOKEN.sub("", answer).strip():
        raise UnreadableError("only reasoning, no answer" if text.strip() else "empty reply")
    if len(answer) > MAX_REPLY_CHARS:
        raise UnreadableError(f"{len(answer)} characters, more than any answer has")
    return answer


def _invalid(problem: UnreadableError, cut_at: int | None) -> Parsed:
    return Parsed(None, "invalid", f"cut at max_tokens {cut_at}" if cut_at else str(problem))


def _words(answer: str, cut_at: int | None) -> str:
    """Return the words of a reply with tags as announcements.

    Of a reply that is cut only the first sentence counts, since the next ones may have come to
    another answer.
    """
    words = _TOKEN.sub("\n", _TAGGED.sub(r"\n\1: \2\n", answer))
    if cut_at:
        sentence = _FIRST_SENTENCE.match(words)
        words = sentence[0] if sentence else ""
    return words


def _read_objects(
    answer: str,
    objects: list[tuple[JsonObject, int, int]],
    schema: type[BaseModel],
    scale: int,
) -> Values:
    """Return the values of the last object, with which the others and the words must agree."""
    readings = []
    for document, _, _ in objects:
        try:
            readings.append(read_object(schema, document, scale))
        except UnreadableError:
            if document is objects[-1][0]:
                raise
    values = readings[-1]
    for name, shape in schema_fields(schema).items():
        readable = [reading.by_name[name] for reading in readings if name in reading.by_name]
        if shape.kind in DECIDING and any(value != readable[-1] for value in readable):
            raise UnreadableError(f"{name}: objects that disagree")
    outside = answer[: objects[0][1]] + "\n" + answer[objects[-1][2] :]
    labels = [name for name, shape in schema_fields(schema).items() if shape.kind == "label"]
    for name in labels if len(labels) == 1 else ():
        shape = schema_fields(schema)[name]
        announced = announced_labels(_words(outside, None), shape.labels, shape.key)
        if set(announced) - {values.by_name.get(name)}:
            raise UnreadableError(f"{name}: the object and the words beside it disagree")
    values.repairs.append("the object stands among other text, or is broken")
    return values


def _read_words(words: str, schema: type[BaseModel], scale: int) -> Values:
    """Return the one field of a schema that decides, if words can state it, and side numbers."""
    values = Values(repairs=["no JSON object; read from the words"])
    fields = schema_fields(schema)
    deciding = [name for name, shape in fields.items() if _must_be_given(shape)]
    if len(deciding) != 1 or fields[deciding[0]].kind not in DECIDING:
        raise UnreadableError("no JSON object")
    for name, shape in fields.items():
        try:
            values.by_name[name] = _read_in_words(words, shape, scale)
        except UnreadableError as problem:
            if _must_be_given(shape):
                raise
            values.missing[name] = str(problem)
    return values


def _must_be_given(shape: Shape) -> bool:
    return shape.required and not shape.may_be_missing


def _read_in_words(words: str, shape: Shape, scale: int) -> Json:
    if not shape.required:
        return shape.default
    if shape.kind == "label":
        return read_label(words, shape.labels, shape.key)
    if shape.kind == "list" and _must_be_given(shape):
        return read_items(words, shape)
    if shape.kind in ("integer", "number"):
        return read_number(words, shape, scale)
    raise UnreadableError("not stated in words")
