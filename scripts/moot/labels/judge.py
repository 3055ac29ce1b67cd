"""A model that labels statements by the rubric.

It does not know who spoke and when. Its replies go through the ledger.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from moot.core.errors import CallFailedError, DebatePausedError, RunStoppedError
from moot.core.model_config import ModelConfig
from moot.core.rubric import Rubric
from moot.llm.chat import Chat, Settings, open_chats
from moot.llm.identity import served_as
from moot.llm.ledger.ledger import Ledger
from moot.llm.parsing.replies import parse_reply
from moot.llm.parsing.schema import MAY_BE_MISSING, describe_schema, json_schema
from moot.llm.progress import Progress
from moot.llm.prompts import Prompts
from moot.llm.request import Request, call_id, request_to

MAX_TOKENS = 200


@cache
def judged_form(labels: tuple[str, ...]) -> type[BaseModel]:
    """Return the reply form of a labelling model.

    It has one of the rubric's labels, and the words of the statement that show it.
    """

    class Judged(BaseModel):
        """What the model replies: a label, and the words of the statement that show it."""

        model_config = ConfigDict(extra="forbid")
        evidence: Annotated[
            str,
            Field(description="the words of the statement that show it, or empty"),
            MAY_BE_MISSING,
        ]
        label: Literal[labels]  # pyrefly: ignore[not-a-type]

    return Judged


@dataclass(frozen=True)
class Judge:
    """A model that labels, with its inputs.

    Attributes:
        name: its name in the configuration.
        config: its entry there.
        prompts: the templates.
        rubric: the rubric of the labels.
        ledger: the configured ledger.
        settings: of its calls.
        seed: the configuration's seed.
    """

    name: str
    config: ModelConfig
    prompts: Prompts
    rubric: Rubric
    ledger: str
    settings: Settings
    seed: int


def judge_statements(
    judge: Judge, statements: pd.DataFrame, facts: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Label statements with a model.

    Args:
        judge: the model.
        statements: as returned by `read_statements`.
        facts: the facts by case id.

    Returns:
        Label and evidence of each statement; ("", reason) if the call failed or the reply was
        unusable.

    Raises:
        RunStoppedError: its reply comes in a later run, since the configuration says not to wait.
    """
    try:
        return asyncio.run(_judge_all(judge, statements, facts))
    except DebatePausedError as pause:
        raise RunStoppedError(
            f"labels by {judge.name}: {pause}. Run the same command again later."
        ) from None


async def _judge_all(
    judge: Judge, statements: pd.DataFrame, facts: Mapping[str, str]
) -> list[tuple[str, str]]:
    ledger = Ledger(judge.ledger)
    progress = Progress(f"labels by {judge.name}", len(statements), calls_a_debate=1)
    slots = asyncio.Semaphore(judge.config.max_concurrent_calls)
    async with open_chats({judge.name: judge.config}, ledger, judge.settings, progress) as chats:

        async def judge_one(case_id: str, statement: str) -> tuple[str, str]:
            async with slots:
                judged = await _judge(judge, chats[judge.name], facts[case_id], statement)
            progress.debates_done += 1
            progress.tick()
            return judged

        pairs: Sequence[tuple[str, str]] = list(
            zip(statements["case_id"], statements["text"], strict=True)
        )
        judged = await asyncio.gather(*(judge_one(case_id, text) for case_id, text in pairs))
    ledger.close()
    return list(judged)


def request_for(judge: Judge, facts: str, statement: str) -> Request:
    """Return the request to a judge about a statement."""
    form = judged_form(tuple(judge.rubric.labels))
    messages = judge.prompts.render(
        judge.rubric.prompt,
        rubric=judge.rubric.describe(),
        question=judge.rubric.question,
        facts=facts,
        statement=statement,
        reply_format=describe_schema(form),
    )
    return request_to(
        judge.config,
        messages,
        max_tokens=MAX_TOKENS,
        temperature=0.0,
        seed=judge.seed,
        schema=json_schema(form),
    )


def label_calls(
    judge: Judge, statements: pd.DataFrame, facts: Mapping[str, str]
) -> dict[str, Request]:
    """Return the requests for a judge's labels of statements, by call id."""
    server = served_as(judge.config)
    requests: dict[str, Request] = {}
    for case_id, text in zip(statements["case_id"], statements["text"], strict=True):
        if text.strip():
            request = request_for(judge, facts[case_id], text)
            requests[call_id(request.to_json(server), 0)] = request
    return requests


async def _judge(judge: Judge, chat: Chat, facts: str, statement: str) -> tuple[str, str]:
    if not statement.strip():
        return judge.rubric.neutral, ""
    form = judged_form(tuple(judge.rubric.labels))
    unreadable_texts: set[str] = set()
    problem = ""
    for attempt in range(judge.config.attempts):
        try:
            _, reply = await chat.ask(request_for(judge, facts, statement), attempt)
        except CallFailedError as error:
            return "", str(error)
        cut_at = MAX_TOKENS if reply.finish_reason == "length" else None
        parsed = parse_reply(reply.text, form, cut_at=cut_at)
        if parsed.value:
            return parsed.value["label"], str(parsed.value.get("evidence", ""))
        problem = parsed.problem
        if reply.text in unreadable_texts:  # as at temperature 0: it would repeat itself
            break
        unreadable_texts.add(reply.text)
    return "", problem
