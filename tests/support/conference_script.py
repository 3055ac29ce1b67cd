"""The shipped conference as a case, and a scripted model for its seats."""

import json
from functools import cache
from typing import Any

from moot.core.cases import Case, Task
from moot.datasets import LOADERS, LoadContext
from moot.llm.request import Request
from moot.protocols.debate import Answer, Debate
from moot.studies.conference.data_agreement import AGREEMENT, OPEN
from moot.studies.conference.forms import Evaluation
from scripted_model import PROJECT, Script, ScriptedModel, hold


@cache
def conference_case() -> tuple[Case, Task]:
    """Return the shipped conference and its task."""
    loader = LOADERS["conference"]
    context = LoadContext("conference", PROJECT, PROJECT, seed=42)
    loaded = loader.load(loader.options(source="sample"), context)
    return loaded.cases[0], loaded.task


async def confer(answer: Script, **params: Any) -> tuple[Answer | None, Debate, ScriptedModel]:
    """Hold the shipped conference."""
    return await hold("conference", *conference_case(), answer, **params)


FORMS = {
    "clarity": json.dumps(dict.fromkeys(Evaluation.model_fields, 7)),
    "positions": json.dumps(
        {"positions": ["P1: yes"], "agreed": ["x"], "criteria": ["health"], "open_points": []}
    ),
    "health": json.dumps(
        dict.fromkeys(
            ["health", "social", "political", "public", "crime", "economic", "cost"], True
        )
    ),
    "grade": json.dumps({"reason": "fits", "grade": 8}),
}


def script(
    decisions: str | list[str], statement: str = "Health comes first.", greeting: str = "Welcome."
) -> Script:
    """Return a script that fills in forms, and takes decisions from a list.

    The last decision is repeated. All other requests get the statement or the greeting.
    """
    pending = [decisions] if isinstance(decisions, str) else list(decisions)

    def answer(request: Request) -> str | dict[str, float] | None:
        prompt = request.messages[-1].content
        if "Answer with MORE DEBATE or" in prompt:
            return pending.pop(0) if len(pending) > 1 else pending[0]
        if request.schema:
            return next(
                text for field, text in FORMS.items() if field in request.schema["properties"]
            )
        return greeting if "You are the moderator" in prompt else statement

    return answer


def kinds(debate: Debate) -> list[str]:
    return [utterance.kind for utterance in debate.utterances]


PAIR = Case(
    "p",
    "agreement",
    "test",
    "Topic: zoos\n\nParticipant 1: a.\n\nParticipant 2: b.",
    OPEN,
    (OPEN, AGREEMENT),
)


PAIR_TASK = Task("the debate", "Do they agree?", (OPEN, AGREEMENT), AGREEMENT)
