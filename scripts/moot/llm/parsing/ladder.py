"""Replies turned into values, or found to be without an answer.

The answer is looked for in these places. The first one that has it counts:

1. The whole reply, a thought aside, is one JSON object.
2. Tags with the names of fields, if the reply has no brace: "<prediction>YES</prediction>".
3. JSON objects among other text, if necessary repaired (`object_replies`).
4. Words (`prose_replies`): the text behind the name of a field ("Prediction: YES"). The only label
   of a form (`conclusions`), its only number (`stated_number`) and a confidence need no name: "The
   answer is YES. I am 70% confident."

`parse_label` reads a reply without a form, in which only `conclusions` looks.

A value of one place may not be contradicted in another: "UNKNOWN" is not NO, "YES or NO" is not
YES, two objects that disagree are no answer, and neither is an answer that is withdrawn
(`withdrawals`) or a repetition of the instruction. The status of a result names its rung:

- strict: the text, a thought aside, is one JSON object that fits the schema as it is.
- repaired: the same object after repair of form: fences, quotes, commas, case of labels, "70%" for
    70, a wrapper.
- extracted: the values are in words, each once or always the same way.
- invalid: anything else.

Each field is read separately. If a field with the mark `MAY_BE_MISSING` is absent, unreadable or
ambiguous, it is left out of the value and listed in `Parsed.missing`. Any other such field makes
the reply invalid, even an optional one. Bounds on lengths and numbers of items are not enforced.

If 0 to 100 is asked, a number above 0 and up to 1.0 is unreadable: 0.7 may mean 0.7 or 70. "0.7%"
and "70%" are clear.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from moot.core.types import Json, JsonObject
from moot.llm.parsing.conclusions import find_label
from moot.llm.parsing.normaliser import has_end_token, strip_thoughts, strip_tokens
from moot.llm.parsing.notes import Notes, Status
from moot.llm.parsing.object_replies import read_objects, read_tags
from moot.llm.parsing.objects import FULL_WIDTH, close_torn, load_json
from moot.llm.parsing.plain_text import CUT, UnreadableError, clean_text
from moot.llm.parsing.prose_replies import ProseReply
from moot.llm.parsing.readings import Reading, read_fields
from moot.llm.parsing.schema import schema_fields
from moot.llm.parsing.withdrawals import is_thinking_aloud

MAX_REPLY_CHARS = 200_000
_ESCAPED_OBJECT = re.compile(r'\{(?:\s|\\n)*\\"')


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


def _read_reply(text: str, schema: type[BaseModel], *, is_cut: bool) -> Reading:
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
        return read_fields(schema, document, notes)
    _refuse_cut_thought(text, answer, is_cut=is_cut)
    if "{" not in answer and "｛" in answer:
        answer = answer.translate(FULL_WIDTH)
    if text[-1].isspace():
        answer += " "  # a number before the cut is complete, even if the reply breaks off
    answer = close_torn(answer)
    has_brace = "{" in answer
    reading = read_objects(answer, schema) if has_brace else read_tags(answer, schema)
    if reading is not None:
        return reading
    words = _mark_cut(strip_tokens(answer), text, is_cut=is_cut and not has_brace)
    return ProseReply(words, schema, is_complete=has_end_token(text)).read()


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
