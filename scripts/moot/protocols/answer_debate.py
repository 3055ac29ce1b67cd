"""Debate as the field means it: debaters argue for assigned answers, and a judge decides.

    opening      each debater argues for its answer
    rebuttal     each answers the others; `rebuttals` times
    verdict      a judge chooses one of the labels

Sources: Irving et al. 2018 (debate before a judge), Michael et al. 2023 (in turn, with quotations
that are checked, before a judge without the text) and Khan et al. 2024 (simultaneous rounds). Their
consultancy, in which one side speaks alone, is the arm `consultancy`.
"""

import re
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from moot.core.cases import Task
from moot.core.text_words import split_words
from moot.core.utterance_kinds import OPENING, VERDICT
from moot.protocols import AnswerMode, Debaters, ProtocolParams, ReasonLength, protocol
from moot.protocols.debate import Answer, Debate, Turn
from moot.protocols.people import gather_statements
from moot.protocols.reply_schemas import prediction_schema, read_answer
from moot.protocols.utterances import Utterance

JUDGE = "judge"
REBUTTAL, NOTE = "rebuttal", "strategy"
_QUOTE = re.compile(r"<quote>(.{1,4000}?)</quote>", re.DOTALL | re.IGNORECASE)


class DebateParams(ProtocolParams):
    """Parameters of `debate`."""

    debaters: int = Field(2, ge=2, le=10, description="Number of debaters, each with one answer.")
    answers: list[str] = Field(
        default_factory=list,
        description=(
            "The labels that the debaters argue for, in their order. Default: the positive label,"
            " then the others as the data set lists them."
        ),
    )
    rebuttals: int = Field(1, ge=0, description="Rounds after the opening.")
    turns: Literal["simultaneous", "in_turn"] = Field(
        "simultaneous",
        description=(
            "Whether the debaters of a round write without seeing each other, or one after the"
            " other."
        ),
    )
    quotes: bool = Field(
        False,
        description=(
            "Whether debaters quote the case between <quote> tags; each quotation is marked as"
            " verified or not."
        ),
    )
    notes: bool = Field(False, description="Whether debaters first write a private note.")
    judge_sees_case: bool = Field(True, description="Whether the judge reads the case's text.")
    words: int = Field(150, ge=20, description="Most words of a statement, as the prompt asks.")
    answer: AnswerMode = "generation"
    max_reason_chars: ReasonLength = 0


def list_debaters(params: DebateParams) -> tuple[str, ...]:
    """Return the debaters' seats in the order of speaking."""
    return tuple(f"debater_{number}" for number in range(1, params.debaters + 1))


def assign_answers(params: DebateParams, task: Task) -> dict[str, str]:
    """Return the label that each debater argues for."""
    first = [task.positive] if task.positive else []
    labels = params.answers or [*first, *(label for label in task.labels if label not in first)]
    return dict(zip(list_debaters(params), labels, strict=False))


def find_misfit(params: DebateParams, labels: Sequence[str], multilabel: bool) -> str:
    """Return why cases with some labels cannot be debated so; "" if they can."""
    remedy = "Set `debaters`, or list in `answers` one label for each debater."
    if multilabel:
        return "protocol 'debate' needs one label a case; these data have several."
    if unknown_answers := [label for label in params.answers if label not in labels]:
        return f"`answers` has {unknown_answers}; the data set's labels are {list(labels)}."
    count = len(set(params.answers or labels))
    if count != params.debaters:
        return f"{params.debaters} debaters argue for {count} labels. {remedy}"
    return ""


DEBATERS = Debaters(list_debaters, JUDGE, assigns_sides=lambda _: True, sides=assign_answers)


@protocol(
    "debate",
    DebateParams,
    study="comparison",
    debaters=DEBATERS,
    seats=lambda params: (*list_debaters(params), JUDGE),
    misfit=find_misfit,
)
async def debate_answers(debate: Debate, params: DebateParams) -> Answer | None:
    """Hold the opening and the rebuttals, and return the judge's verdict.

    A failed statement is skipped. A failed verdict leaves no answer.
    """
    answers = assign_answers(params, debate.task)
    seats = debate.speaking_order(list_debaters(params))
    for number in range(params.rebuttals + 1):
        kind = REBUTTAL if number else OPENING
        turns = [Turn(seat, kind, round=number + 1) for seat in seats]
        if params.turns == "in_turn":
            for turn in turns:
                await speak(debate, params, turn, answers[turn.seat], debate.readable_by(turn.seat))
        else:
            readable = [debate.readable_by(seat) for seat in seats]
            statements = (
                speak(debate, params, turn, answers[turn.seat], utterances)
                for turn, utterances in zip(turns, readable, strict=True)
            )
            await gather_statements(*statements)
    return await decide(debate, params)


async def speak(
    debate: Debate, params: DebateParams, turn: Turn, side: str, readable: Sequence[Utterance]
) -> Utterance:
    """Let a debater write a private note, if asked for, and make a public statement."""
    context: dict[str, Any] = {
        "round": turn.round,
        "side": side,
        "phase": turn.kind,
        "statement": mark_quotes,
    }
    if params.notes:
        note = await debate.say(
            turn.seat, NOTE, "debate/note", private=True, utterances=readable, **context
        )
        readable = [*readable, note]
    statement = await debate.say(
        turn.seat, turn.kind, "debate/statement", utterances=readable, **context
    )
    if params.quotes and statement.usable:
        statement.parsed = {"quotes": check_quotes(statement.text, debate.case.text)}
    return statement


async def decide(debate: Debate, params: DebateParams) -> Answer | None:
    """Ask the judge for the verdict."""
    if params.answer == "likelihood":
        verdict = await debate.choose(JUDGE, VERDICT, "debate/verdict", statement=mark_quotes)
        return read_answer(debate, verdict)
    schema = prediction_schema(
        debate.task, name="Verdict", reasoning=True, max_reason_chars=params.max_reason_chars
    )
    verdict = await debate.say(
        JUDGE, VERDICT, "debate/verdict", schema=schema, statement=mark_quotes
    )
    return read_answer(debate, verdict)


def check_quotes(text: str, case_text: str) -> dict[str, bool]:
    """Return whether the case has each quotation of a statement, word by word."""
    record = _joined_words(case_text)
    return {quote: _joined_words(quote) in record for quote in _QUOTE.findall(text)}


def _joined_words(text: str) -> str:
    return f" {' '.join(word.form for word in split_words(text))} "


def mark_quotes(utterance: Utterance) -> str:
    """Return a statement whose quotations are marked as verified or not.

    The marks have no tags, which prompts disarm in material. Debaters cannot set a mark.
    """
    is_verified = (utterance.parsed or {}).get("quotes", {})
    text = re.sub(r"\[(?:un)?verified\]", "", utterance.text, flags=re.IGNORECASE)

    def mark(match: re.Match[str]) -> str:
        return f'"{match[1]}" [{"verified" if is_verified.get(match[1]) else "unverified"}]'

    return _QUOTE.sub(mark, text) if is_verified else text
