"""The statements in a panel's replies: one reply split into those of its judges, and the confidence
that one gives.
"""

import re
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, create_model

from moot.core.confidence import scaled_confidence
from moot.core.types import JsonObject
from moot.llm.parsing.schema import MAY_BE_MISSING
from moot.protocols.utterances import Utterance

_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "a": 1, "b": 2, "c": 3, "d": 4}
_JUDGE = re.compile(
    r"^[ \t>*_#-]*(?:AI )?Judge[ \t]+(?P<number>\d{1,2}|one|two|three|four|five|"
    r"[A-D])\b[^:\n]{0,40}?[*_]*[ \t]*(?::|\n|[–—])[*_]*[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_ROUND = re.compile(
    r"^[ \t>*_#-]*Round[ \t]+(?P<number>\d{1,2}|one|two|three|four|five)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
_CONFIDENCE = re.compile(
    r"confiden\w*(?:(?!judge)[^\d\n]){0,60}?(?P<after>\d{1,3}(?:\.\d+)?)(?!\d)(?P<range>\s?(?:[-–—]|to)\s?\d)?"
    r"|(?P<before>\d{1,3})\s*(?:%|/\s*100)[^\n.]{0,20}confiden",
    re.IGNORECASE,
)


class Spoken(BaseModel):
    """One judge's statement within a synthetic round."""

    model_config = ConfigDict(extra="forbid")
    judge: int = Field(ge=1, description="the judge's number")
    statement: str = Field(
        description="what this judge says, ending with 'Confidence: ' and a number from 0 to 100"
    )
    round: int = Field(0, description="the round it belongs to")


@cache
def round_schema(judges: int, characters: int) -> type[BaseModel]:
    """A statement a judge; those of the others count where one is missing."""
    fields: JsonObject = {
        f"judge_{number}": (
            Annotated[
                str,
                Field(max_length=characters, description=f"what Judge {number} says"),
                MAY_BE_MISSING,
            ],
            ...,
        )
        for number in range(1, judges + 1)
    }
    model: type[BaseModel] = create_model("Round", __config__=ConfigDict(extra="forbid"), **fields)
    return model


def parts_of_json(said: Utterance) -> list[Spoken]:
    """The judges' statements of a reply that came as JSON."""
    parsed = said.parsed if said.usable and said.parsed else {}
    return [
        Spoken(judge=int(name.removeprefix("judge_")), statement=str(text), round=said.round)
        for name, text in parsed.items()
    ]


def split_round(text: str, current: int) -> list[Spoken]:
    """The judges' statements in a reply, by the headings "Judge N" and "Round N".

    A heading of another round than the current one is believed: the paper's models ran on into
        rounds beyond the third.

    >>> [(part.judge, part.round, part.statement) for part in split_round("Judge 1: Yes.\\nRound 4\\nJudge 2: No.", 3)]
    [(1, 3, 'Yes.'), (2, 4, 'No.')]
    """
    marks: list[tuple[int, int, str, int]] = []
    for kind, pattern in (("judge", _JUDGE), ("round", _ROUND)):
        for match in pattern.finditer(text):
            word = match["number"].lower()
            marks.append(
                (match.start(), match.end(), kind, int(word) if word.isdigit() else _NUMBERS[word])
            )
    spoken: list[Spoken] = []
    number = current
    marks.sort()
    ends = [mark[0] for mark in marks[1:]] + [len(text)]
    for (_, end, kind, value), stop in zip(marks, ends, strict=False):
        if kind == "round":
            number = value
        elif statement := text[end:stop].strip():
            spoken.append(Spoken(judge=value, statement=statement, round=number))
    return spoken


def stated_confidence(text: str, scale: int = 100) -> float | None:
    """The last confidence that a statement gives, from 0 to 100.

    None for no confidence, for a range, and for a number that contradicts the model's
    `confidence_scale`, as a fraction of 1 does where that is 100.

    >>> stated_confidence("I affirm. Confidence: 85/100")
    85.0
    """
    number, behind = _last_confidence(text)
    if not number:
        return None
    is_percentage = re.match(r"\s*(?:%|/|out of)", behind) is not None
    if scale != 1 and "." in number and 0 < float(number) <= 1:
        return None
    return scaled_confidence(float(number), scale, is_percentage=is_percentage)


def _last_confidence(text: str) -> tuple[str, str]:
    """The digits of the last confidence that is not a range, and what follows them; "" where there
    is none.
    """
    stated = list(_CONFIDENCE.finditer(text))
    if not stated or stated[-1]["range"]:
        return "", ""
    if stated[-1]["before"]:
        return stated[-1]["before"], "%"
    return stated[-1]["after"], text[stated[-1].end("after") :]
