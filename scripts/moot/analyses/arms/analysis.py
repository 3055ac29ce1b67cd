"""The hooks of control arms: further experiments for each experiment that names some."""

from collections.abc import Callable, Iterable, Sequence

from moot.analyses.arms.config import ARM_MODELS
from moot.analyses.arms.controls import ARMS, BaseExperiment, arm_name, invalid_reason
from moot.analyses.arms.experiments import arm_configs, arms_of
from moot.core.errors import UserError, unknown_name
from moot.core.experiment_config import ExperimentConfig
from moot.hooks import ANALYSES, Analysis
from moot.protocols import PROTOCOLS, ProtocolParams
from moot.protocols.attribution import ATTRIBUTION


class ControlArms(Analysis):
    """An experiment without its debate, or with one thing about the debate changed."""

    def derived_names(self, name: str, config: ExperimentConfig) -> Sequence[str]:
        """The names of an experiment's arms."""
        return [arm_name(name, arm) for arm in arms_of(config)]

    def derive_experiments(
        self, name: str, config: ExperimentConfig, params: ProtocolParams
    ) -> Iterable[tuple[str, ExperimentConfig]]:
        """The arms of an experiment, each as an entry of its own."""
        return arm_configs(_base_experiment(name, config, params), config)

    def check_experiment(
        self,
        name: str,
        config: ExperimentConfig,
        params: ProtocolParams,
        labels: tuple[str, ...],
        where: Callable[[str], str],
    ) -> None:
        """Check the arms of an experiment, and the arm that it is."""
        for model in ARM_MODELS.of(config) or ():
            if model not in config.models:
                raise unknown_name(
                    "model of this experiment", model, config.models, where("arm_models")
                )
        base = _base_experiment(config.of or name, config, params)
        arms = arms_of(config)
        for arm in (*arms, config.arm):
            if not arm:
                continue
            if arm not in ARMS:
                raise unknown_name(
                    "control arm", arm, ARMS, where("arms" if arm in arms else "arm")
                )
            is_substitute = arm == config.arm and ARMS[arm].substitute
            reason = "" if is_substitute else invalid_reason(arm, base, labels, arms)
            if reason:
                key = "attribution" if arm == ATTRIBUTION and config.attribution else "arms"
                raise UserError(f"{where(key)}: {arm}: {reason}")


def _base_experiment(name: str, config: ExperimentConfig, params: ProtocolParams) -> BaseExperiment:
    """Return an experiment as its arms see it."""
    entry = PROTOCOLS[config.protocol]
    attribution = config.attribution.model_dump(exclude_unset=True) if config.attribution else {}
    return BaseExperiment(name, config.protocol, entry, config.params, params, attribution)


ANALYSES.register("arms")(ControlArms())
