"""A model for tests that answers what a function says, and remembers what it was asked; and tasks for its debates."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from moot.cases import Case, Task
from moot.config import ModelConfig
from moot.debate import Debate, Setting
from moot.errors import LogprobsUnavailableError
from moot.llm.request import Reply, Request
from moot.prompts import Prompts

PROJECT = Path(__file__).resolve().parents[1]
WINNER = Task(
    noun="the case",
    question="Who wins?",
    labels=("defendant", "plaintiff"),
    positive="plaintiff",
    meaning={"plaintiff": "the plaintiff wins"},
)
ARTICLES = Task(noun="本案", question="适用哪些条文？", labels=("234", "264", "347"), language="zh", multilabel=True)
STANCE = Task(noun="the text", question="Which side?", labels=("con", "neutral", "pro"))


class Voice:
    """Answers free text, JSON by schema, or log-probabilities; `answer(request, nth)` may say which.

    Args:
        answer: the reply to the nth request: a text, a mapping (sent as JSON), or a mapping of log-probabilities.
        token_probabilities: whether the endpoint gives them.
    """

    def __init__(self, answer: Callable[[Request, int], Any], token_probabilities: bool = True) -> None:
        self.config = ModelConfig(model="voice")
        self.answer = answer
        self.token_probabilities = token_probabilities
        self.asked: list[Request] = []

    async def ask(self, request: Request, replicate: int) -> tuple[str, Reply]:
        self.asked.append(request)
        if request.choices and not self.token_probabilities:
            raise LogprobsUnavailableError("the server gives no log-probabilities")
        said = self.answer(request, len(self.asked))
        call_id = f"call-{len(self.asked)}"
        if request.choices:
            return call_id, Reply(text="", logprobs=said)
        return call_id, Reply(text=json.dumps(said, ensure_ascii=False) if isinstance(said, Mapping) else said)

    @property
    def prompts(self) -> list[str]:
        """What was asked, one text a call."""
        return ["\n".join(message.content for message in request.messages) for request in self.asked]


def debate_of(
    voice: Voice,
    params: Any,
    task: Task,
    case: Case | None = None,
    artifacts: Mapping[str, Path] | None = None,
    examples: tuple[Case, ...] = (),
) -> Debate:
    """A debate over one test case in which the voice speaks for every seat."""
    case = case or Case("c1", "toy", "test", "A sold B a lame horse.", task.labels[-1], task.labels)
    prompts = Prompts(PROJECT / "config" / "prompts")
    chats: Any = {"voice": voice}
    setting = Setting("toy-feedback", "voice", chats, params, prompts, 1, examples, artifacts or {})
    return Debate(case, task, 0, setting)
