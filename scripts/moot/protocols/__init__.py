"""Protocols: short asynchronous functions over a debate, close to the algorithms of the papers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from moot.core.cases import Case, Task
from moot.core.registry import Registry
from moot.core.strict_model import StrictModel
from moot.core.types import CheckedValues, Fields
from moot.protocols.debate import Answer, Debate
from moot.protocols.setup import JobSetup

Protocol = Callable[[Debate, CheckedValues], Awaitable[Answer | None]]
"""Takes a debate and its parameters, and returns the answer; None without a usable verdict."""


Temperature = Annotated[
    float, Field(ge=0, description="Sampling temperature, unless the model's entry sets one.")
]
AnswerMode = Annotated[
    Literal["generation", "likelihood"],
    Field(
        description=(
            "Whether the model writes the answer (`generation`), or the log-probabilities of the"
            " label words decide (`likelihood`)."
        )
    ),
]
ReasonLength = Annotated[
    int,
    Field(
        ge=0,
        description=(
            "Most characters of the answer's reasons, so that a small model reaches the answer; 0"
            " sets no limit."
        ),
    ),
]


class ProtocolParams(StrictModel):
    """The parameters of every protocol; each protocol adds its own."""

    experiment_fields: ClassVar[tuple[str, ...]] = ("source_experiment",)
    """The fields that name an experiment whose results the debates read."""
    likelihood_fields: ClassVar[tuple[str, ...]] = ("answer",)
    """The fields whose value `likelihood` asks for the log-probabilities of words."""

    temperature: Temperature = 0.7
    max_tokens: int | None = Field(
        None, ge=1, description="Most tokens of one reply. Default: the model's `max_tokens`."
    )
    form_tokens: int | None = Field(
        None,
        ge=1,
        description="Most tokens of a reply that follows a schema. Default: as `max_tokens`.",
    )
    seats: Mapping[str, str] = Field(
        default_factory=dict,
        description=(
            "The model of each seat that the experiment's model does not take, or `person`"
            " (`person:NAME` where several people sit)."
        ),
    )

    @classmethod
    def named_experiments(cls, params: Fields) -> list[str]:
        """Return the experiments that parameters of this protocol name."""
        return [str(params[name]) for name in cls.experiment_fields if params.get(name)]

    @property
    def needs_logprobs(self) -> bool:
        """Whether debates fail without the log-probabilities of words."""
        return any(getattr(self, name, "") == "likelihood" for name in self.likelihood_fields)


Needs = Callable[[CheckedValues], Mapping[str, str]]
Repeats = Callable[[JobSetup, Case], Sequence[int] | None]
Seats = Callable[[CheckedValues], Sequence[str] | None]
Misfit = Callable[[CheckedValues, Sequence[str], bool], str]
"""Parameters, labels of the data and whether a case has several to the reason why debates about
such data cannot be held; "" if they can.
"""


@dataclass(frozen=True, slots=True)
class Debaters:
    """The debaters of a protocol, for interventions that change what debaters say.

    Attributes:
        seats: Returns the seats that argue, in the order of speaking, from the parameters.
        decider: The seat that gives the answer, for instance a judge or a moderator.
        are_judges: Whether the debaters also decide, like the judges of a panel. Each of them is
            then asked in any case, and an intervention changes what each hears of the others.
        assigns_sides: Returns whether debaters are told what to argue for, from the parameters.
        sides: Returns the label for which each seat argues, from the parameters and the task.
        agreement_labels: The labels of a task whose answer is the agreement of the debaters.
            Without debaters such a task has no answer.
    """

    seats: Callable[[CheckedValues], Sequence[str]]
    decider: str
    are_judges: bool = False
    assigns_sides: Callable[[CheckedValues], bool] = lambda _: False
    sides: Callable[[CheckedValues, Task], Mapping[str, str]] = lambda *_: {}
    agreement_labels: frozenset[str] = frozenset()

    def assigned_sides(self, params: CheckedValues, task: Task) -> Mapping[str, str]:
        """Return the label that each seat is told to argue for; empty if they are told none."""
        return self.sides(params, task) if self.assigns_sides(params) else {}


@dataclass(frozen=True, slots=True)
class Options:
    """How a protocol's prompts name the options of an answer.

    Attributes:
        words: The words of options: the task's labels, the protocol's "own" words, or "none" if
            prompts ask for no answer.
        fixed_labels: Labels that prompts or rules name. A task with these labels cannot be
            reworded.
        explains_labels: Whether prompts explain each label (`task.meaning`), which otherwise the
            question does.
    """

    words: Literal["task", "own", "none"] = "task"
    fixed_labels: frozenset[str] = frozenset()
    explains_labels: bool = True


@dataclass(frozen=True, slots=True)
class ProtocolEntry:
    """A registered protocol.

    Attributes:
        study: The study whose tables show its experiments by default.
        prompts: Prefixes of the prompt templates that it uses.
        needs: Returns the artifacts below `results/` that its debates need, by name, from the
            parameters. `{model}` and `{dataset}` in a path are the experiment's.
            `transcripts/EXPERIMENT/MODEL` is a file for each shard, the second by the name NAME_1.
        repeats: Returns the repeats of a case that are debated. Default: as the experiment states.
        options: How its prompts name the options of an answer.
        seats: Returns the seats from the parameters, so that `seats` can be checked; None if they
            are unknown.
        rubric: The name of the rubric of its statements; "" without labels.
        misfit: Returns why data with some labels cannot be debated, and what to change.
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


def protocol(  # noqa: PLR0913 - keywords of a registration
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
