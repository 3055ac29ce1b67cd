"""Protocols: short asynchronous functions over a debate, to be read next to the algorithm that they
come from.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from moot.core.cases import Case, Task
from moot.core.registry import Registry
from moot.core.strict_model import StrictModel
from moot.core.types import CheckedValues, Fields
from moot.protocols.debate import Answer, Debate
from moot.protocols.setup import JobSetup

Protocol = Callable[[Debate, CheckedValues], Awaitable[Answer | None]]
"""A debate and its parameters to an answer; None where no usable verdict was given."""


Temperature = Annotated[
    float, Field(ge=0, description="sampling temperature, unless the model's entry sets one")
]
AnswerMode = Annotated[
    Literal["generation", "likelihood"],
    Field(
        description="the answer is generated, or read off the log-probabilities of the label words"
    ),
]
ReasonLength = Annotated[
    int,
    Field(
        ge=0,
        description=(
            "most characters of the answer's reasons, so that a small model comes to it; 0: any"
        ),
    ),
]


class ProtocolParams(StrictModel):
    """What every protocol's `params` may say; a protocol's own parameters extend it."""

    temperature: Temperature = 0.7
    max_tokens: int | None = Field(
        None, ge=1, description="most tokens of one reply; none: the model's own limit"
    )
    form_tokens: int | None = Field(
        None,
        ge=1,
        description="most tokens of a reply that must follow a schema; none: as max_tokens",
    )
    seats: Mapping[str, str] = Field(
        default_factory=dict,
        description=(
            "seat to model, for seats that another model than the experiment's takes, or to"
            " `person` (`person:NAME` where several people sit)"
        ),
    )
    contradictory: Literal["field", "invalid"] = Field(
        "field",
        description=(
            "what counts of a reply whose words contradict its prediction: the field, with the"
            " reply flagged; or nothing, the reply is invalid"
        ),
    )


Needs = Callable[[CheckedValues], Mapping[str, str]]
Repeats = Callable[[JobSetup, Case], Sequence[int] | None]
Seats = Callable[[CheckedValues], Sequence[str] | None]
Misfit = Callable[[CheckedValues, Sequence[str], bool], str]
"""Parameters, labels of the data and whether a case has several to the reason why debates about
such data cannot be held; "" where they can.
"""


@dataclass(frozen=True, slots=True)
class Debaters:
    """Who argues in a protocol, for interventions that change what debaters say.

    Attributes:
        seats: the seats that argue, from the parameters, in the order of speaking.
        decider: the seat that gives the answer, for instance a judge or a moderator.
        are_judges: whether those who argue also decide, as judges of a panel do: then each is asked
            all the same, and an intervention changes what each hears of the others.
        assigns_sides: whether each is told what to argue for, from the parameters.
        sides: seat to the label that it argues for, from the parameters and the task.
        agreement_labels: labels of a task whose answer is the agreement that the debaters reach.
            Without debaters such a task has no answer.
    """

    seats: Callable[[CheckedValues], Sequence[str]]
    decider: str
    are_judges: bool = False
    assigns_sides: Callable[[CheckedValues], bool] = lambda _: False
    sides: Callable[[CheckedValues, Task], Mapping[str, str]] = lambda *_: {}
    agreement_labels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Options:
    """How a protocol's prompts name the options of an answer.

    Attributes:
        words: as the task labels them, or in words of the protocol's own; none where no answer is
            asked for.
        fixed_labels: labels that prompts or rules name. A task with these labels cannot be
            reworded.
        explains_labels: whether prompts explain each label (`task.meaning`) instead of leaving
            that to the question.
    """

    words: Literal["task", "own", "none"] = "task"
    fixed_labels: frozenset[str] = frozenset()
    explains_labels: bool = True


@dataclass(frozen=True, slots=True)
class ProtocolEntry:
    """A registered protocol.

    Attributes:
        study: the study whose tables its experiments enter by default.
        prompts: prefixes of the prompt templates that it uses.
        needs: parameters to the artifacts (below `results/`, by name) that its debates need first;
            `{model}` and `{dataset}` in a path are the experiment's own.
            `transcripts/EXPERIMENT/MODEL` is a file for each shard (the second by the name NAME_1,
            and so on).
        repeats: which repeats of a case are debated; None for as many as the experiment says.
        options: how its prompts name the options of an answer.
        seats: who may speak, from the parameters, so that `seats` can be checked; None where that
            is not said.
        rubric: the labels of its statements, by the rubric's name; "" where they get none.
        misfit: why debates about data with some labels cannot be held, and what to change.
    """

    run: Protocol
    params: type[ProtocolParams]
    study: str
    prompts: tuple[str, ...]
    needs: Needs = lambda _: {}
    repeats: Repeats = lambda *_: None
    debaters: Debaters | None = None
    options: Options = Options()
    seats: Seats = lambda _: None
    rubric: str = ""
    misfit: Misfit = lambda *_: ""


PROTOCOLS: Registry[ProtocolEntry] = Registry("protocol", "protocol", "moot.protocols")


def pairing_suffix(pair: Sequence[str]) -> str:
    """How the name of an experiment ends in which two models debate each other."""
    return f"-{pair[0]}-against-{pair[1]}"


def paired_models(experiment: str, protocol: str, params: Fields) -> dict[str, str]:
    """Seat to model of the two debaters of an experiment of a tournament; {} for any other
    experiment.
    """
    debaters = PROTOCOLS[protocol].debaters
    seats = (
        debaters.seats(PROTOCOLS[protocol].params.model_validate(dict(params))) if debaters else ()
    )
    models = {seat: params.get("seats", {}).get(seat, "") for seat in seats}
    is_pairing = len(models) == len(("one", "other")) and experiment.endswith(
        pairing_suffix([*models.values()])
    )
    return models if is_pairing else {}


def protocol(  # noqa: PLR0913 - what may be said of a protocol, by name
    name: str,
    params: type[ProtocolParams],
    *,
    study: str,
    prompts: tuple[str, ...] | None = None,
    needs: Needs = lambda _: {},
    repeats: Repeats = lambda *_: None,
    debaters: Debaters | None = None,
    options: Options = Options(),
    seats: Seats = lambda _: None,
    rubric: str = "",
    misfit: Misfit = lambda *_: "",
) -> Callable[[Protocol], Protocol]:
    """Register a protocol: `@protocol("courtroom", CourtroomParams, study="courtroom")`.

    `prompts` are prefixes of template names below `config/prompts`; by default the folder of the
    protocol's name.
    """

    def add(run: Protocol) -> Protocol:
        templates = (f"{name}/",) if prompts is None else prompts
        entry = ProtocolEntry(
            run, params, study, templates, needs, repeats, debaters, options, seats, rubric, misfit
        )
        PROTOCOLS.register(name)(entry)
        return run

    return add
