"""Controls: experiments that repeat another one's debates with one thing changed.

An experiment with `control: NAME` and `control_of: EXPERIMENT` in its entry is a control. Analyses
register what each name changes, in their modules `controls*`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from moot.core.cases import Case, Task
from moot.core.experiment_config import ExperimentConfig
from moot.core.registry import Registry
from moot.protocols import PROTOCOLS, Debaters, ProtocolParams
from moot.protocols.debate import Debate, Intervention
from moot.protocols.setup import JobSetup


@dataclass(frozen=True, slots=True)
class Rewording:
    """Reworded cases and task, and a function that restores the task's words in a debate."""

    cases: Sequence[Case]
    task: Task
    restore: Callable[[Debate], Debate]


@dataclass(frozen=True, slots=True)
class Control:
    """What a control changes.

    Attributes:
        change: The change, as a clause for tables and messages.
        template: The template of the words that it adds, if any.
        intervention: Returns the intervention in a debate, from the protocol's debaters.
        reword: Returns the reworded cases and task, from the entry, the cases and the task.
        change_seats: Returns the parameter `seats`, from the protocol's debaters and parameters.
        base_artifact: The name of the artifact of the base experiment's transcripts, if they are
            read.
    """

    change: str
    template: str = ""
    intervention: Callable[[Debaters], Intervention] | None = None
    reword: Callable[[ExperimentConfig, Sequence[Case], Task], Rewording] | None = None
    change_seats: Callable[[Debaters, ProtocolParams], dict[str, str]] | None = None
    base_artifact: str = ""


CONTROLS: Registry[Control] = Registry("control", "control")
MakeDebate = Callable[[Case, Task, int, JobSetup], Debate]


def find_control(config: ExperimentConfig) -> Control | None:
    """Return the control of an experiment; None for an experiment without one."""
    if config.control not in CONTROLS:
        return None
    return CONTROLS[config.control]


def control_params(
    config: ExperimentConfig, params: ProtocolParams
) -> tuple[ProtocolParams, Mapping[str, str]]:
    """Return the parameters that an experiment's control changes, and the artifacts it needs."""
    control, debaters = find_control(config), PROTOCOLS[config.protocol].debaters
    if control is None:
        return params, {}
    if control.change_seats and debaters:
        params = params.model_copy(update={"seats": control.change_seats(debaters, params)})
    if not control.base_artifact:
        return params, {}
    return params, {control.base_artifact: f"transcripts/{config.control_of}/{{model}}"}


def make_debate(config: ExperimentConfig) -> MakeDebate:
    """Return the function that makes an experiment's debates, with its control's intervention."""
    control, debaters = find_control(config), PROTOCOLS[config.protocol].debaters
    make_intervention = control.intervention if control else None

    def make(case: Case, task: Task, repeat: int, setup: JobSetup) -> Debate:
        if make_intervention is None or debaters is None:
            return Debate(case, task, repeat, setup)
        return Debate(case, task, repeat, setup, make_intervention(debaters))

    return make


def reword(config: ExperimentConfig, cases: Sequence[Case], task: Task) -> Rewording:
    """Return the cases and the task in the words in which an experiment debates them.

    Raises:
        UserError: The protocol knows the task's options by name.
    """
    control = find_control(config)
    if control is None or control.reword is None:
        return Rewording(cases, task, lambda debate: debate)
    return control.reword(config, cases, task)
