"""A model of fixed answers, so that protocols can be tested without any: a function from a request to a text."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from moot.cases import Case, Task
from moot.config import ModelConfig
from moot.debate import Answer, Debate, Setting
from moot.llm.failures import CallFailedError
from moot.llm.request import Reply, Request
from moot.prompts import Prompts
from moot.protocols import PROTOCOLS

PROJECT = Path(__file__).parents[1]
Script = Callable[[Request], str | dict[str, float] | None]


class ScriptedChat:
    """Stands in for a model: a text, log-probabilities of the choices, or None for a call that fails."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.config = ModelConfig(model="scripted")
        self.requests: list[Request] = []

    async def ask(self, request: Request, replicate: int) -> tuple[str, Reply]:
        self.requests.append(request)
        answer = self.script(request)
        if answer is None:
            raise CallFailedError("scripted failure")
        if isinstance(answer, dict):
            return f"call{len(self.requests)}", Reply("", logprobs=answer)
        return f"call{len(self.requests)}", Reply(answer)


async def hold(
    protocol: str,
    case: Case,
    task: Task,
    script: Script,
    examples: list[Case] | None = None,
    repeat: int = 0,
    **params: Any,
) -> tuple[Answer | None, Debate, ScriptedChat]:
    """One debate of a protocol with a scripted model in every seat."""
    entry = PROTOCOLS[protocol]
    chat = ScriptedChat(script)
    checked = entry.params.model_validate(params)
    prompts = Prompts(PROJECT / "config" / "prompts")
    setting = Setting("test", "scripted", {"scripted": chat}, checked, prompts, 7, examples or [])  # type: ignore[dict-item]
    debate = Debate(case, task, repeat, setting)
    return await entry.run(debate, checked), debate, chat
