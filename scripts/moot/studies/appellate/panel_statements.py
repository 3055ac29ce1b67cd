"""Split a panel's reply into the statements of its judges, and read their confidence."""

import re
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, create_model

from moot.core.confidence import scaled_confidence
from moot.core.types import JsonObject
from moot.llm.parsing.schema import MAY_BE_MISSING
from moot.protocols.reply_schemas import prediction_type
from moot.protocols.utterances import Utterance

_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "a": 1, "b": 2, "c": 3, "d": 4}
_JUDGE = re.compile(
    r"^[ \t>*_#-]*(?:AI )?Judge[ \t]+(?P<number>\d{1,2}|one|two|three|four|five|"
    r"[A-D])\b[^:\n]{0,40}?[*_]*[ \t]*(?::|\n|[–—])[*_]*[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED_JUDGE = re.compile(
    r"^[ \t>*_#-]*(?:(?:AI|Chief|Circuit|Presiding|Senior|Associate)[ \t]+){0,2}(?:Judge|Justice)"
    r"[ \t]+(?P<name>[A-Z][\w.'’-]*(?:[ \t]+[A-Z][\w.'’-]*){0,3})[*_]*(?:[ \t]*\([^)\n]{0,40}\))?"
    r"[*_]*[ \t]*(?::|\n|[–—])[*_]*[ \t]*",
    re.MULTILINE,
)
"""A heading such as "Judge Smith:". The paper's prompt asks for no headings, so that models name
the judges as they like.
"""
_ROUND = re.compile(
    r"^[ \t>*_#-]*Round[ \t]+(?P<number>\d{1,2}|one|two|three|four|five)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
_CONFIDENCE = re.compile(
    r"confiden\w*(?:(?!judge)[^\d\n]){0,60}?"
    r"(?P<after>\d{1,3}(?:\.\d+)?)(?!\d)(?P<range>\s?(?:[-–—]|to)\s?\d)?"
    r"|(?P<before>\d{1,3})\s*(?:%|/\s*100)[^\n.]{0,20}confiden",
    re.IGNORECASE,
)


class JudgeStatement(BaseModel):
    """One judge's statement within a synthetic round."""

    model_config = ConfigDict(extra="forbid")
    judge: int = Field(ge=1, description="the judge's number")
    statement: str = Field(
        description="what this judge says, ending with 'Confidence: ' and a number from 0 to 100"
    )
    round: int = Field(0, description="the round it belongs to")


@cache
def make_round_schema(judges: int, max_chars: int) -> type[BaseModel]:
    """Make the schema of a round: one optional statement per judge of at most `max_chars`."""
    fields: JsonObject = {
        f"judge_{number}": (
            Annotated[
                str,
                Field(max_length=max_chars, description=f"what Judge {number} says"),
                MAY_BE_MISSING,
            ],
            ...,
        )
        for number in range(1, judges + 1)
    }
    model: type[BaseModel] = create_model("Round", __config__=ConfigDict(extra="forbid"), **fields)
    return model


@cache
def make_votes_schema(labels: tuple[str, ...], multilabel: bool, judges: int) -> type[BaseModel]:
    """Make the schema of the votes of a round: a label, or several, of each judge."""
    label_type = prediction_type(labels, multilabel)
    fields: JsonObject = {
        f"judge_{number}": (Annotated[label_type, MAY_BE_MISSING], ...)
        for number in range(1, judges + 1)
    }
    model: type[BaseModel] = create_model("Votes", __config__=ConfigDict(extra="forbid"), **fields)
    return model


def read_json_round(utterance: Utterance) -> list[JudgeStatement]:
    """Return the judges' statements of a JSON reply."""
    parsed = utterance.parsed if utterance.usable and utterance.parsed else {}
    return [
        JudgeStatement(
            judge=int(name.removeprefix("judge_")), statement=str(text), round=utterance.round
        )
        for name, text in parsed.items()
    ]


def split_round(
    text: str, current_round: int, names: list[str] | None = None
) -> list[JudgeStatement]:
    """Split a reply into the judges' statements at the headings "Judge N" and "Round N".

    A heading of another round changes the round of what follows: the paper's models continued
    beyond the third round. In a reply without numbered judges, judges may be headed by name; each
    name is the judge of its place in `names`.

    Args:
        text: the reply.
        current_round: the round that was asked for.
        names: the last names of earlier replies of the debate, in order; new ones are appended.

    >>> reply = "Judge 1: Yes.\\nRound 4\\nJudge 2: No."
    >>> [(part.judge, part.round, part.statement) for part in split_round(reply, 3)]
    [(1, 3, 'Yes.'), (2, 4, 'No.')]
    """
    headings: list[tuple[int, int, str, int]] = []
    for kind, pattern in (("judge", _JUDGE), ("round", _ROUND)):
        for match in pattern.finditer(text):
            word = match["number"].lower()
            headings.append(
                (match.start(), match.end(), kind, int(word) if word.isdigit() else _NUMBERS[word])
            )
    if not _JUDGE.search(text):
        headings += _find_named_headings(text, [] if names is None else names)
    statements: list[JudgeStatement] = []
    statement_round = current_round
    headings.sort()
    ends = [heading[0] for heading in headings[1:]] + [len(text)]
    for (_, end, kind, value), next_start in zip(headings, ends, strict=False):
        if kind == "round":
            statement_round = value
        elif statement := text[end:next_start].strip():
            statements.append(
                JudgeStatement(judge=value, statement=statement, round=statement_round)
            )
    return statements


def _find_named_headings(text: str, names: list[str]) -> list[tuple[int, int, str, int]]:
    """Return the headings of judges by name, with their numbers.

    New names are appended to `names`.
    """
    headings = []
    for match in _NAMED_JUDGE.finditer(text):
        name = match["name"].split()[-1].strip(".'’-").casefold()
        if name not in names:
            names.append(name)
        headings.append((match.start(), match.end(), "judge", names.index(name) + 1))
    return headings


def read_confidence(text: str, scale: int = 100) -> float | None:
    """Return the last confidence of a statement, 0 to 100.

    Return None if there is none, for a range, and for a number that contradicts the model's
    `confidence_scale`, as a fraction of 1 does if that is 100.

    >>> read_confidence("I affirm. Confidence: 85/100")
    85.0
    """
    number, following_text = _find_last_confidence(text)
    if not number:
        return None
    is_percentage = re.match(r"\s*(?:%|/|out of)", following_text) is not None
    if scale != 1 and "." in number and 0 < float(number) <= 1:
        return None
    return scaled_confidence(float(number), scale, is_percentage=is_percentage)


def _find_last_confidence(text: str) -> tuple[str, str]:
    """Return the digits of the last confidence and the text behind them.

    Both are "" if there is no confidence or it is a range.
    """
    matches = list(_CONFIDENCE.finditer(text))
    if not matches or matches[-1]["range"]:
        return "", ""
    if matches[-1]["before"]:
        return matches[-1]["before"], "%"
    return matches[-1]["after"], text[matches[-1].end("after") :]
