"""People in seats, and the questions that they answer in place of models.

`seats: {judge: person}` gives a seat to a person; `person:ann` names the person if several people
take part in a debate.
"""

import asyncio
import json
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model

from moot.core.errors import DebatePausedError, UserError, unknown_name
from moot.core.text_files import quote_value
from moot.core.types import Fields, Json, JsonObject
from moot.llm.parsing.schema import json_schema, schema_fields
from moot.llm.prompts import Section

PERSON = "person"
STATEMENT, PREDICTION, CONFIDENCE = "statement", "prediction", "confidence"
FORM_BELOW = "Answer in the form below."
"""Replaces, for a person, the sentences that tell a model the form of its reply."""
NAME_RULE = "letters of any script, digits and hyphens, 31 at most"
_MAX_NAME_CHARS = 31
Item = TypeVar("Item")


def is_person(voice: str) -> bool:
    """Return whether a value of `seats` is a person."""
    return voice.partition(":")[0] == PERSON


def check_seats(
    voices: Mapping[str, str], seats: Sequence[str] | None, models: Collection[str], place: str
) -> None:
    """Require known seats and models, valid names of people, and one seat for each person.

    Args:
        voices: The model or person in each seat.
        seats: The protocol's seats; None if they are unknown.
        models: The models of the configuration.
        place: The file and key, for messages.

    Raises:
        UserError: One of these requirements is not met.
    """
    if model := next(filter(is_person, models), None):
        raise UserError(
            f"{place}: '{model}' is a model of the configuration, and means a person. Rename the"
            " model."
        )
    seats_by_person: dict[str, str] = {}
    for seat, voice in voices.items():
        if seats is not None and seat not in seats:
            raise unknown_name("seat", seat, seats, place)
        if not is_person(voice):
            if voice not in models:
                raise unknown_name("model", voice, [*models, PERSON], place)
            continue
        name = person_name(voice)
        if voice != PERSON and not name:
            raise UserError(
                f"{place}: {quote_value(voice)} is not a person; expected '{PERSON}' or"
                f" '{PERSON}:NAME' ({NAME_RULE})."
            )
        if name in seats_by_person:
            raise UserError(
                f"{place}: '{seats_by_person[name]}' and '{seat}' are both {voice}'s; who sits in"
                " two seats reads what only one of them may. Name two people, as"
                f" {{{seats_by_person[name]}:"
                f" {PERSON}:ann, {seat}: {PERSON}:bob}}."
            )
        seats_by_person[name] = seat


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a person.

    Attributes:
        experiment, model, case_id, repeat: The debate.
        round, seat, kind: The utterance that the answer becomes.
        role: The name of the seat on these data; "" if the data set states none.
        nth: The number of the question among the questions of this seat, kind and round, from 1.
        person: The name of the person; "" if the configuration states none.
        sections: The text that the seat may read now, in the words of the protocol.
        form: The JSON schema of the answer; `required` lists the necessary fields.
    """

    experiment: str
    model: str
    case_id: str
    repeat: int
    round: int
    seat: str
    kind: str
    nth: int
    person: str
    sections: tuple[Section, ...]
    form: Fields
    role: str = ""


AskPerson = Callable[[Question], Fields]
"""Returns the answer to a question by field; raises `DebatePausedError` without an answer."""


class PersonForm(BaseModel):
    """What a person fills in, and no model is ever sent."""

    model_config = ConfigDict(extra="forbid")


class Statement(PersonForm):
    """What a person says where a model writes free text."""

    statement: str = Field(description="what you say")


@cache
def choice_form(words: tuple[str, ...]) -> type[PersonForm]:
    """Return the form on which a person chooses one of several words.

    A model chooses in its reply, or by the words' likelihood.
    """
    fields: JsonObject = {
        PREDICTION: (Literal[words], ...),  # pyrefly: ignore[not-a-type]
        CONFIDENCE: (float, Field(ge=0, le=100, description="how sure you are, from 0 to 100")),
    }
    return create_model("Choice", __base__=PersonForm, **fields)


@cache
def person_form(schema: type[BaseModel]) -> JsonObject:
    """Return a reply's schema as a person's form.

    A person must fill in choices, numbers and a statement, even if a model's reply may lack them.
    """
    required = [
        shape.key
        for shape in schema_fields(schema).values()
        if not shape.may_be_missing or shape.kind not in ("text", "list") or shape.key == STATEMENT
    ]
    return {**json_schema(schema), "required": required}


def person_name(voice: str) -> str:
    """Return the name of a person; "" without a name."""
    return normalise_name(voice.partition(":")[2])


def normalise_name(text: str) -> str:
    """Return a person's name for files and pages: in lower case and composed characters.

    The result is "" if the text cannot be a name.
    """
    name = unicodedata.normalize("NFC", text.strip().lower())
    kinds = ["-" if sign == "-" else unicodedata.category(sign)[0] for sign in name]
    return (
        name
        if len(name) <= _MAX_NAME_CHARS
        and set(kinds) <= set("LMN-")
        and kinds[:1] in (["L"], ["N"])
        else ""
    )


def answer_text(answer: Fields) -> str:
    """Return the text of an answer: the statement, or the chosen word.

    It takes the place of a model's free text.
    """
    return str(answer[STATEMENT] if STATEMENT in answer else answer[PREDICTION])


def format_quoted_form(text: str) -> str:
    """Return a quoted form of a prompt ("SEAT, KIND: {JSON}") with its fields as lines of words."""
    lead, brace, rest = text.partition("{")
    if not brace or not lead.rstrip().endswith(":") or "\n" in lead:
        return text
    try:
        fields = json.loads(brace + rest)
    except ValueError:
        return text
    return lead.strip() + "".join(
        f"\n{field_title(name)}: {_format_value(value)}" for name, value in fields.items()
    )


def field_title(name: str) -> str:
    """Return the name of a field as people read it."""
    return name.replace("_", " ").capitalize()


def _format_value(value: Json) -> str:
    if isinstance(value, dict):
        return ", ".join(_format_value(part) for part in value.values())
    return "; ".join(map(_format_value, value)) if isinstance(value, list) else str(value)


async def gather_statements(*statements: Awaitable[Item]) -> list[Item]:
    """Return the statements of several seats that speak at once.

    If some seats wait for people, the others still finish.

    Raises:
        DebatePausedError: A seat waits for a person. Another error ends all statements.
    """

    pauses: list[DebatePausedError] = []

    async def speak(statement: Awaitable[Item]) -> list[Item]:
        try:
            return [await statement]
        except DebatePausedError as pause:
            pauses.append(pause)
            return []

    replies = await asyncio.gather(*map(speak, statements))
    if pauses:
        raise pauses[0]
    return list(chain.from_iterable(replies))
