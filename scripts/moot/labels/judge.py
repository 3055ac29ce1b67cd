"""A model that labels statements by the rubric, blind to who spoke and when; its replies go through the ledger."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from moot.core.config import ModelConfig
from moot.core.errors import CallFailedError
from moot.legal.rubric import LABELS, describe_rubric
from moot.llm.chat import Chat, Settings, open_chats
from moot.llm.ledger import Ledger
from moot.llm.parsing.ladder import describe_schema, json_schema, parse_reply
from moot.llm.parsing.schema import MAY_BE_MISSING
from moot.llm.progress import Progress
from moot.llm.request import request_to
from moot.stages.plan import Plan

PROMPT = "panel/label"
MOST_TOKENS = 200


class Judged(BaseModel):
    """What the model replies: a label, and the words of the statement that show it."""

    model_config = ConfigDict(extra="forbid")
    evidence: Annotated[str, Field(description="the words of the statement that show it, or empty"), MAY_BE_MISSING]
    label: Literal[LABELS]  # type: ignore[valid-type]


def judge_statements(
    plan: Plan, model: str, statements: pd.DataFrame, facts: Mapping[str, str], threads: int = 1
) -> list[tuple[str, str]]:
    """Label statements with a model.

    Args:
        plan: the checked configuration.
        model: a name under `models`.
        statements: as `statements_in` gives them.
        facts: case id to facts.
        threads: for an embedded model.

    Returns:
        Label and evidence of each statement; ("", reason) where the call failed or the reply was unusable.
    """
    return asyncio.run(_judge_all(plan, model, statements, facts, threads))


async def _judge_all(
    plan: Plan, model: str, statements: pd.DataFrame, facts: Mapping[str, str], threads: int
) -> list[tuple[str, str]]:
    config: ModelConfig = plan.config.models[model]
    ledger = Ledger(plan.config.ledger)
    settings = Settings(plan.config.replay, plan.config.budget, threads, plan.config.models)
    progress = Progress(f"labels by {model}", len(statements))
    slots = asyncio.Semaphore(config.concurrency)
    async with open_chats({model: config}, ledger, settings, progress) as chats:

        async def one(case_id: str, statement: str) -> tuple[str, str]:
            async with slots:
                judged = await _judge(plan, chats[model], facts[case_id], statement)
            progress.done += 1
            progress.tick()
            return judged

        pairs: Sequence[tuple[str, str]] = list(zip(statements["case_id"], statements["text"], strict=True))
        judged = await asyncio.gather(*(one(case_id, text) for case_id, text in pairs))
    ledger.close()
    return list(judged)


async def _judge(plan: Plan, chat: Chat, facts: str, statement: str) -> tuple[str, str]:
    if not statement.strip():
        return "NONE", ""
    messages = plan.prompts.render(
        PROMPT, rubric=describe_rubric(), facts=facts, statement=statement, reply_format=describe_schema(Judged)
    )
    request = request_to(
        chat.config,
        messages,
        max_tokens=MOST_TOKENS,
        temperature=0.0,
        seed=plan.config.seed,
        schema=json_schema(Judged),
    )
    try:
        _, reply = await chat.ask(request, 0)
    except CallFailedError as error:
        return "", str(error)
    parsed = parse_reply(reply.text, Judged)
    return (parsed.value["label"], str(parsed.value.get("evidence", ""))) if parsed.value else ("", parsed.problem)
