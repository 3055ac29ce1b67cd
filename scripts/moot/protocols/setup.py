"""What all debates of a job share."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.cases import Case
from moot.core.types import CheckedValues
from moot.llm.prompts import Prompts
from moot.protocols.inbox import ask_by_inbox
from moot.protocols.people import AskPerson

if TYPE_CHECKING:
    from moot.llm.chat import Chat


@dataclass(frozen=True, slots=True)
class JobSetup:
    """What all debates of a job share.

    Attributes:
        experiment, model: Names in the configuration.
        chats: Model name to the chat with it. `model` speaks for every seat that `params.seats`
            does not give to another voice.
        params: The protocol's checked parameters.
        prompts: The templates.
        seed: The run's seed.
        examples: The training split, for n-shot prompts. No other case may be shown with its label.
        artifacts: Files that the protocol needs, by name.
        people: Asks the person in a seat.
        placeholders: The ids of calls whose replies no model gave; only a preview has any.
    """

    experiment: str
    model: str
    chats: "Mapping[str, Chat]"
    params: CheckedValues
    prompts: Prompts
    seed: int
    examples: Sequence[Case] = ()
    artifacts: Mapping[str, Path] = field(default_factory=dict)
    people: AskPerson = ask_by_inbox
    placeholders: Container[str] = frozenset()
