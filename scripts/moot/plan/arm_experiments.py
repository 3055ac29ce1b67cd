"""From an experiment's control arms to experiments of their own, and from an arm to how its debates
are held.
"""

from collections.abc import Callable, Iterator, Sequence

from moot.core.cases import Case, Task
from moot.core.errors import UserError, unknown_name
from moot.core.experiment_config import ExperimentConfig, fields_marked
from moot.core.types import Fields
from moot.protocols import PROTOCOLS, ProtocolParams
from moot.protocols.arm_debates import HELD
from moot.protocols.arms import (
    ARMS,
    ATTRIBUTION,
    RELABELLED,
    SWAP,
    Full,
    arm_name,
    exchange_seats,
    find_arm,
    problem,
    renames,
)
from moot.protocols.debate import Debate, Setting
from moot.protocols.relabelling import Relabelled, relabelled

MakeDebate = Callable[[Case, Task, int, Setting], Debate]


def full_experiment(name: str, config: ExperimentConfig, params: ProtocolParams) -> Full:
    """An experiment as its arms see it."""
    attribution = config.attribution.model_dump(exclude_unset=True) if config.attribution else {}
    return Full(
        name, config.protocol, PROTOCOLS[config.protocol], config.params, params, attribution
    )


def arm_configs(full: Full, config: ExperimentConfig) -> Iterator[tuple[str, ExperimentConfig]]:
    """The control arms of a checked experiment, each as an entry of its own; their statements get
    no labels.
    """
    for name in config.arms:
        instead = ARMS[name].instead
        protocol, params = instead(full) if instead else (config.protocol, dict(config.params))
        if instead and "seats" in params:
            params["seats"] = _seats_there(protocol, params)
        limits = [count for count in (config.cases, config.arm_cases) if count is not None]
        own_words = bool(instead) and name != ATTRIBUTION
        changed: dict[str, object] = {
            "protocol": protocol,
            "params": params,
            "arm": name,
            "of": full.name,
            "study": config.study or full.entry.study,
            "models": config.arm_models or config.models,
            "cases": min(limits) if limits else None,
            "calibration_cases": 0 if name == ATTRIBUTION else config.calibration_cases,
            "prompts": "" if own_words else config.prompts,
        }
        for key in fields_marked(passed_to_arms=False):
            changed[key] = ExperimentConfig.model_fields[key].get_default()
        yield arm_name(full.name, name), config.model_copy(update=changed)


def _seats_there(protocol: str, params: Fields) -> dict[str, str]:
    """The `seats` of an experiment that the protocol of its arm has, too."""
    entry = PROTOCOLS[protocol]
    known = entry.seats(entry.params.model_validate({**params, "seats": {}}))
    return {
        seat: voice for seat, voice in params["seats"].items() if known is None or seat in known
    }


def check_arms(
    full: Full, config: ExperimentConfig, labels: tuple[str, ...], where: Callable[[str], str]
) -> None:
    """Raise `UserError` for an arm that is unknown, or that means nothing for the experiment.

    Args:
        full: the experiment, or the arm where it is one itself.
        config: its entry.
        labels: of its data, as far as they are known before the data are loaded.
        where: a key of the entry to its place in the configuration.
    """
    for model in config.arm_models:
        if model not in config.models:
            raise unknown_name(
                "model of this experiment", model, config.models, where("arm_models")
            )
    for name in (*config.arms, *([config.arm] if config.arm else [])):
        arm = find_arm(name, where("arms" if name in config.arms else "arm"))
        if name == config.arm and arm.instead:
            continue
        if found := problem(name, config.protocol, full, labels, config.arms):
            key = "attribution" if name == ATTRIBUTION and config.attribution else "arms"
            raise UserError(f"{where(key)}: {name}: {found}")


def with_arm(full: Full, arm: str) -> tuple[ProtocolParams, dict[str, str]]:
    """The parameters of an experiment as its arm changes them, and the artifacts that the arm
    needs.
    """
    params = full.params
    if arm == SWAP:
        params = params.model_copy(update={"seats": exchange_seats(full)})
    needs = {HELD: f"transcripts/{full.name}/{{model}}"} if arm and ARMS[arm].held else {}
    return params, needs


def make_debate(config: ExperimentConfig) -> MakeDebate:
    """How the debates of an experiment are made: as its protocol holds them, or as its arm has it."""
    debaters = PROTOCOLS[config.protocol].debaters
    kind = ARMS[config.arm].debate if config.arm else None
    if kind is None or debaters is None:
        return Debate
    return lambda case, task, repeat, setting: kind(case, task, repeat, setting, debaters)


def as_argued(config: ExperimentConfig, cases: Sequence[Case], task: Task) -> Relabelled | None:
    """The cases and the task as an experiment argues them; None where that is as they are.

    Raises:
        UserError: the protocol knows the task's options by name.
    """
    if config.arm != RELABELLED:
        return None
    entry = PROTOCOLS[config.protocol]
    rename = renames(entry)
    if rename and set(task.labels) == entry.options.known:
        raise UserError(
            f"experiment '{config.of}': protocol '{config.protocol}' knows the options of this data"
            f" by name. Remove '{RELABELLED}' from `arms`."
        )
    return relabelled(cases, task, rename, entry.options.explained)
