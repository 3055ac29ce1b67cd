"""Protocols: short asynchronous functions over a debate, to be read beside the algorithm that they come from."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from moot.core.cases import Case
from moot.core.registry import Registry
from moot.protocols.debate import Answer, Debate, Setting

Protocol = Callable[[Debate, Any], Awaitable[Answer | None]]
"""A debate and its parameters to an answer; None where no usable verdict was given."""


class ProtocolParams(BaseModel):
    """What every protocol's `params` may say; a protocol's own parameters extend it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float = Field(0.7, ge=0, description="sampling temperature, unless the model's entry sets one")
    max_tokens: int | None = Field(None, ge=1, description="most tokens of one reply; none: the model's own limit")
    form_tokens: int | None = Field(
        None, ge=1, description="most tokens of a reply that must follow a schema; none: as max_tokens"
    )
    seats: Mapping[str, str] = Field(
        default_factory=dict, description="seat to model, for seats that another model than the experiment's takes"
    )


def _every_repeat(_setting: Setting, _case: Case) -> None:
    return None


def _nothing(_params: Any) -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class ProtocolEntry:
    """A registered protocol.

    Attributes:
        run: the protocol.
        params: its parameters' model.
        study: the study whose tables its experiments enter by default.
        prompts: prefixes of the prompt templates that it uses.
        needs: parameters to the artifacts (below `results/`, by name) that its debates need first; `{model}` and
            `{dataset}` in a path stand for the experiment's own. `transcripts/EXPERIMENT/MODEL` is a file for each
            shard (the second by the name NAME_1, and so on).
        repeats: which repeats of a case are debated; None for as many as the experiment says.
    """

    run: Protocol
    params: type[ProtocolParams]
    study: str
    prompts: tuple[str, ...]
    needs: Callable[[Any], Mapping[str, str]] = _nothing
    repeats: Callable[[Setting, Case], Sequence[int] | None] = _every_repeat


PROTOCOLS: Registry[ProtocolEntry] = Registry("protocol", "moot.protocols")


def protocol(
    name: str,
    params: type[ProtocolParams],
    *,
    study: str,
    prompts: tuple[str, ...] | None = None,
    needs: Callable[[Any], Mapping[str, str]] = _nothing,
    repeats: Callable[[Setting, Case], Sequence[int] | None] = _every_repeat,
) -> Callable[[Protocol], Protocol]:
    """Register a protocol: `@protocol("courtroom", CourtroomParams, study="courtroom")`.

    `prompts` are prefixes of template names below `config/prompts`; by default the folder of the protocol's name.
    """

    def add(run: Protocol) -> Protocol:
        PROTOCOLS.register(name)(
            ProtocolEntry(run, params, study, (f"{name}/",) if prompts is None else prompts, needs, repeats)
        )
        return run

    return add
