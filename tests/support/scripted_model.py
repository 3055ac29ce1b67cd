"""A model for tests that replies as a function decides and records its requests, and its tasks."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from moot.core.cases import Case, Task
from moot.core.errors import CallFailedError, LogprobsUnavailableError
from moot.core.model_config import ModelConfig
from moot.core.shipped_files import prompt_folders
from moot.llm.prompts import Prompts
from moot.llm.request import Reply, Request
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Answer, Debate
from moot.protocols.setup import JobSetup

PROJECT = Path(__file__).resolve().parents[2]
WINNER = Task(
    noun="the case",
    question="Who wins?",
    labels=("defendant", "plaintiff"),
    positive="plaintiff",
    meaning={"plaintiff": "the plaintiff wins"},
)
ARTICLES = Task(
    noun="本案",
    question="适用哪些条文？",
    labels=("234", "264", "347"),
    language="zh",
    multilabel=True,
)
STANCE = Task(noun="the text", question="Which side?", labels=("con", "neutral", "pro"))

Script = Callable[[Request], Any]


class ScriptedModel:
    """Stands in for a chat: answers free text, JSON by schema, or log-probabilities of the choices.

    Args:
        answer: the reply to the nth request: a text, a mapping (sent as JSON, or log-probabilities
            where the request has choices), or None for a call that fails.
        token_probabilities: whether the endpoint gives them.
    """

    def __init__(
        self, answer: Callable[[Request, int], Any], token_probabilities: bool = True
    ) -> None:
        self.config = ModelConfig(model="scripted")
        self.answer = answer
        self.token_probabilities = token_probabilities
        self.requests: list[Request] = []

    async def ask(self, request: Request, replicate: int) -> tuple[str, Reply]:
        self.requests.append(request)
        if request.choices and not self.token_probabilities:
            raise LogprobsUnavailableError("the server gives no log-probabilities")
        reply = self.answer(request, len(self.requests))
        call_id = f"call-{len(self.requests)}"
        if reply is None:
            raise CallFailedError("scripted failure")
        if request.choices:
            return call_id, Reply(text="", logprobs=reply)
        if isinstance(reply, Mapping):
            reply = json.dumps(reply, ensure_ascii=False)
        return call_id, Reply(text=reply)

    @property
    def prompts(self) -> list[str]:
        """The text of each request."""
        return [request_text(request) for request in self.requests]


def request_text(request: Request) -> str:
    """Return the contents of the messages of a request, one a line."""
    return "\n".join(message.content for message in request.messages)


def make_debate(
    model: ScriptedModel,
    params: Any,
    task: Task,
    case: Case | None = None,
    artifacts: Mapping[str, Path] | None = None,
    examples: tuple[Case, ...] = (),
    repeat: int = 0,
    wording: Path | None = None,
) -> Debate:
    """Return a debate over one test case in which the model speaks for every seat."""
    case = case or Case("c1", "toy", "test", "A sold B a lame horse.", task.labels[-1], task.labels)
    prompts = Prompts(*([wording] if wording else []), *prompt_folders(PROJECT))
    chats: Any = {"scripted": model}
    setup = JobSetup("test", "scripted", chats, params, prompts, 7, examples, artifacts or {})
    return Debate(case, task, repeat, setup)


async def hold(
    protocol: str,
    case: Case,
    task: Task,
    script: Script,
    examples: list[Case] | None = None,
    repeat: int = 0,
    wording: Path | None = None,
    **params: Any,
) -> tuple[Answer | None, Debate, ScriptedModel]:
    """Hold one debate of a protocol with a scripted model in every seat."""
    entry = PROTOCOLS[protocol]
    model = ScriptedModel(lambda request, _: script(request))
    checked_params = entry.params.model_validate(params)
    debate = make_debate(
        model,
        checked_params,
        task,
        case,
        examples=tuple(examples or ()),
        repeat=repeat,
        wording=wording,
    )
    return await entry.run(debate, checked_params), debate, model
