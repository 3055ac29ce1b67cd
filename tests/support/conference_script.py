"""The shipped conference as a case, and a model that says what its seats are wanted to say."""

import json
from collections.abc import Callable

from moot.core.cases import Case, Task
from moot.datasets import LOADERS, LoadContext
from moot.llm.request import Request
from scripted_model import Script

LoadContextMaker = Callable[..., LoadContext]


def conference_case(load_context: LoadContextMaker) -> tuple[Case, Task]:
    loader = LOADERS["conference"]
    loaded = loader.load(loader.options(source="sample"), load_context("conference"))
    return loaded.cases[0], loaded.task


FORMS = {
    "clarity": json.dumps(
        dict.fromkeys(
            [
                "clarity",
                "relevance",
                "conciseness",
                "politeness",
                "engagement",
                "flow",
                "coherence",
                "responsiveness",
                "language_use",
                "emotional_intelligence",
            ],
            7,
        )
    ),
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
    decisions: str | list[str], statement: str = "Health comes first.", opening: str = "Welcome."
) -> Script:
    """Forms are filled in; decisions come from a list (the last one again and again); the rest is
    talk.
    """
    waiting = [decisions] if isinstance(decisions, str) else list(decisions)

    def answer(request: Request) -> str | dict[str, float] | None:
        asked = request.messages[-1].content
        if "Answer with MORE DEBATE or" in asked:
            return waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if request.schema:
            return next(
                text for field, text in FORMS.items() if field in request.schema["properties"]
            )
        return opening if "You are the moderator" in asked else statement

    return answer
