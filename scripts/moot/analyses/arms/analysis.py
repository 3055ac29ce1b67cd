"""The hooks of control arms: further experiments for each experiment that names some."""

from collections.abc import Callable, Iterable, Sequence

from moot.analyses.arms.arm_experiments import arm_configs
from moot.analyses.arms.config import ARM_MODELS, ARM_NAMES
from moot.analyses.arms.controls import ARMS, BaseExperiment, arm_name, invalid_reason
from moot.core.errors import UserError, unknown_name
from moot.core.experiment_config import ExperimentConfig
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
        return arm_configs(_base_experiment(name, config, params), config)

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


ANALYSES.register("arms")(ControlArms())
