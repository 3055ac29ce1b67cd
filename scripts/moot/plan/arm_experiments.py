"""From an experiment's control arms to experiments of their own, and from an arm to its debates."""

from collections.abc import Callable, Iterator, Sequence

from moot.core.cases import Case, Task
from moot.core.errors import UserError, unknown_name
from moot.core.experiment_config import ExperimentConfig, fields_marked
from moot.core.types import JsonObject
from moot.protocols import PROTOCOLS, ProtocolParams
from moot.protocols.arm_noise import SOURCE_DEBATES
from moot.protocols.arms import (
    ARMS,
    ATTRIBUTION,
    RELABELLED,
    SWAP,
    BaseExperiment,
    arm_name,
    exchange_seats,
    find_arm,
    invalid_reason,
    renames_labels,
)
from moot.protocols.debate import Debate
from moot.protocols.relabelling import Relabelled, relabelled
from moot.protocols.setup import JobSetup

MakeDebate = Callable[[Case, Task, int, JobSetup], Debate]


def base_experiment(name: str, config: ExperimentConfig, params: ProtocolParams) -> BaseExperiment:
    """Return an experiment as its arms see it."""
    entry = PROTOCOLS[config.protocol]
    attribution = config.attribution.model_dump(exclude_unset=True) if config.attribution else {}
    return BaseExperiment(name, config.protocol, entry, config.params, params, attribution)


def arm_configs(
    base: BaseExperiment, config: ExperimentConfig
) -> Iterator[tuple[str, ExperimentConfig]]:
    """Yield the control arms of a checked experiment, each with its name as an entry of its own.

    Statements of arms get no labels.
    """
    defaults = {
        key: ExperimentConfig.model_fields[key].get_default()
        for key in fields_marked(passed_to_arms=False)
    }
    case_limits = [count for count in (config.cases, config.arm_cases) if count is not None]
    for name in config.arms:
        substitute = ARMS[name].substitute
        protocol, params = config.protocol, dict(config.params)
        if substitute:
            protocol, params = substitute(base)
            _drop_unknown_seats(protocol, params)
        has_own_prompts = bool(substitute) and name != ATTRIBUTION
        changes: dict[str, object] = {
            "protocol": protocol,
            "params": params,
            "arm": name,
            "of": base.name,
            "study": config.study or base.entry.study,
            "models": config.arm_models or config.models,
            "cases": min(case_limits, default=None),
            "calibration_cases": 0 if name == ATTRIBUTION else config.calibration_cases,
            "prompts": "" if has_own_prompts else config.prompts,
        }
        yield arm_name(base.name, name), config.model_copy(update=changes | defaults)


def _drop_unknown_seats(protocol: str, params: JsonObject) -> None:
    """Drop the `seats` of an experiment that the protocol of its arm does not have."""
    if "seats" not in params:
        return
    entry = PROTOCOLS[protocol]
    seats = entry.seats(entry.params.model_validate({**params, "seats": {}}))
    if seats is not None:
        params["seats"] = {seat: voice for seat, voice in params["seats"].items() if seat in seats}


def check_arms(
    base: BaseExperiment,
    config: ExperimentConfig,
    labels: tuple[str, ...],
    where: Callable[[str], str],
) -> None:
    """Raise `UserError` for an arm that is unknown, or meaningless for the experiment.

    Args:
        base: The experiment; the arm, where it has an entry of its own.
        config: Its entry.
        labels: Of its data, as far as they are known before the data are loaded.
        where: A key of the entry to its place in the configuration.
    """
    for model in config.arm_models:
        if model not in config.models:
            raise unknown_name(
                "model of this experiment", model, config.models, where("arm_models")
            )
    for name in (*config.arms, *([config.arm] if config.arm else [])):
        arm = find_arm(name, where("arms" if name in config.arms else "arm"))
        if name == config.arm and arm.substitute:
            continue
        if reason := invalid_reason(name, base, labels, config.arms):
            key = "attribution" if name == ATTRIBUTION and config.attribution else "arms"
            raise UserError(f"{where(key)}: {name}: {reason}")


def apply_arm(base: BaseExperiment, arm: str) -> tuple[ProtocolParams, dict[str, str]]:
    """Return an experiment's parameters as its arm changes them, and the artifacts that the arm
    needs.
    """
    params = base.params
    if arm == SWAP:
        params = params.model_copy(update={"seats": exchange_seats(base)})
    needs = {}
    if arm and ARMS[arm].needs_base_debates:
        needs[SOURCE_DEBATES] = f"transcripts/{base.name}/{{model}}"
    return params, needs


def make_debate(config: ExperimentConfig) -> MakeDebate:
    """Return what makes an experiment's debates: plain ones, or ones with its arm's intervention."""
    debaters = PROTOCOLS[config.protocol].debaters
    make_intervention = ARMS[config.arm].intervention if config.arm else None

    def make(case: Case, task: Task, repeat: int, setup: JobSetup) -> Debate:
        if make_intervention is None or debaters is None:
            return Debate(case, task, repeat, setup)
        return Debate(case, task, repeat, setup, make_intervention(debaters))

    return make


def as_argued(config: ExperimentConfig, cases: Sequence[Case], task: Task) -> Relabelled | None:
    """Return the cases and the task under other names of the options; None for any other arm.

    Raises:
        UserError: The protocol knows the task's options by name.
    """
    if config.arm != RELABELLED:
        return None
    entry = PROTOCOLS[config.protocol]
    has_new_names = renames_labels(entry)
    if has_new_names and set(task.labels) == entry.options.known:
        raise UserError(
            f"experiment '{config.of}': protocol '{config.protocol}' knows the options of this data"
            f" by name. Remove '{RELABELLED}' from `arms`."
        )
    return relabelled(cases, task, has_new_names, entry.options.explained)
