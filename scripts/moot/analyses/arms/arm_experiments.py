"""From an experiment's control arms to separate experiments."""

from collections.abc import Iterator

from moot.analyses.arms.config import ARM_CASES, ARM_MODELS, ARM_NAMES
from moot.analyses.arms.controls import ARMS, BaseExperiment, arm_name
from moot.core.experiment_config import ExperimentConfig, fields_marked
from moot.core.types import JsonObject
from moot.protocols import PROTOCOLS


def arm_configs(
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
