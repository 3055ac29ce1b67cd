"""The hooks of control arms: further experiments for each experiment that names some."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from moot.analyses.arms.config import ARM_CASES, ARM_MODELS, ARM_NAMES
from moot.analyses.arms.controls import ARMS, BaseExperiment, arm_name, invalid_reason
from moot.core.errors import UserError, unknown_name
from moot.core.experiment_config import ExperimentConfig, fields_marked
from moot.core.types import JsonObject
from moot.hooks import ANALYSES, Analysis
from moot.protocols import PROTOCOLS, ProtocolParams


class ControlArms(Analysis):
    """An experiment without its debate, or with one thing about the debate changed."""

    def derived_names(self, name: str, config: ExperimentConfig) -> Sequence[str]:
        """Return the names of an experiment's arms."""
        return [arm_name(name, arm) for arm in ARM_NAMES.value_in(config) or ()]

    def derive_experiments(
        self, name: str, config: ExperimentConfig, params: ProtocolParams
    ) -> Iterable[tuple[str, ExperimentConfig]]:
        """Return the arms of an experiment, each as a separate entry."""
        return _arm_configs(_base_experiment(name, config, params), config)

    def check_experiment(
        self,
        name: str,
        config: ExperimentConfig,
        params: ProtocolParams,
        labels: tuple[str, ...],
        place: Callable[[str], str],
    ) -> None:
        """Check the arms of an experiment, and the arm that it is."""
        for model in ARM_MODELS.value_in(config) or ():
            if model not in config.models:
                raise unknown_name(
                    "model of this experiment", model, config.models, place("arm_models")
                )
        base = _base_experiment(config.control_of or name, config, params)
        arms = ARM_NAMES.value_in(config) or ()
        for arm in arms:
            if arm not in ARMS:
                raise unknown_name("control arm", arm, ARMS, place("arms"))
        is_same_protocol = config.control in ARMS and not ARMS[config.control].substitute
        for arm in (*arms, config.control) if is_same_protocol else arms:
            reason = invalid_reason(arm, base, labels, arms)
            if reason:
                raise UserError(f"{place('arms')}: {arm}: {reason}")


def _base_experiment(name: str, config: ExperimentConfig, params: ProtocolParams) -> BaseExperiment:
    """Return an experiment as its arms see it."""
    entry = PROTOCOLS[config.protocol]
    return BaseExperiment(name, config.protocol, entry, config.params, params)


def _arm_configs(
    base: BaseExperiment, config: ExperimentConfig
) -> Iterator[tuple[str, ExperimentConfig]]:
    """Yield the control arms of a checked experiment, each as an entry with its name.

    Statements of arms get no labels.
    """
    defaults = {
        key: ExperimentConfig.model_fields[key].get_default()
        for key in fields_marked(passed_to_controls=False)
    }
    case_limits = [
        count for count in (config.cases, ARM_CASES.value_in(config)) if count is not None
    ]
    for name in ARM_NAMES.value_in(config) or ():
        substitute = ARMS[name].substitute
        protocol, params = config.protocol, dict(config.params)
        if substitute:
            protocol, params = substitute(base)
            _drop_unknown_seats(protocol, params)
        changes: dict[str, object] = {
            "protocol": protocol,
            "params": params,
            "control": name,
            "control_of": base.name,
            "study": config.study or base.entry.study,
            "models": ARM_MODELS.value_in(config) or config.models,
            "cases": min(case_limits, default=None),
            "prompts": "" if substitute else config.prompts,
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


ANALYSES.register("arms")(ControlArms())
