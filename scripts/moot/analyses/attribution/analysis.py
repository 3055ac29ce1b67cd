"""The hooks of attribution: a further experiment for each experiment with the key `attribution`."""

from collections.abc import Callable, Iterator, Sequence

from moot.analyses.attribution.config import ATTRIBUTION_SECTION, AttributionConfig
from moot.analyses.attribution.protocol import ATTRIBUTION
from moot.core.errors import UserError
from moot.core.experiment_config import ExperimentConfig, fields_marked
from moot.datasets import DatasetOptions
from moot.hooks import ANALYSES, Analysis
from moot.protocols import PROTOCOLS, ProtocolParams
from moot.protocols.people import is_person


class Attribution(Analysis):
    """The judge of an experiment answers again about its debates without each turn."""

    def derived_names(self, name: str, config: ExperimentConfig) -> Sequence[str]:
        """Return the name of the experiment that judges again."""
        return [_experiment_name(name)] if ATTRIBUTION_SECTION.value_in(config) else []

    def derive_experiments(
        self, name: str, config: ExperimentConfig, params: ProtocolParams
    ) -> Iterator[tuple[str, ExperimentConfig]]:
        """Yield the experiment that judges the debates of an experiment again."""
        attribution = ATTRIBUTION_SECTION.value_in(config)
        if attribution:
            yield _experiment_name(name), _judge_again(name, config, params, attribution)

    def check_experiment(
        self,
        name: str,
        config: ExperimentConfig,
        params: ProtocolParams,
        _labels: tuple[str, ...],
        place: Callable[[str], str],
    ) -> None:
        """Check that an experiment with the key has debates that a model can judge again."""
        attribution = ATTRIBUTION_SECTION.value_in(config)
        reason = _invalid_reason(name, config, params) if attribution else ""
        if reason:
            raise UserError(f"{place(ATTRIBUTION)}: {ATTRIBUTION}: {reason}")

    def is_control(self, config: ExperimentConfig, _dataset: DatasetOptions) -> bool:
        """Return whether an experiment judges the debates of another one again."""
        return config.protocol == ATTRIBUTION


def _experiment_name(base: str) -> str:
    return f"{base}-arm={ATTRIBUTION}"


def _judge_again(
    name: str, config: ExperimentConfig, params: ProtocolParams, attribution: AttributionConfig
) -> ExperimentConfig:
    """Return the entry of the experiment that judges the debates of the experiment `name` again."""
    entry = PROTOCOLS[config.protocol]
    if entry.debaters is None:
        raise ValueError(f"'{name}' has no debaters")  # refused by `_invalid_reason`
    judge = entry.debaters.decider
    own_params = {
        **attribution.model_dump(exclude_unset=True),
        "judge_protocol": config.protocol,
        "judge_protocol_params": config.params,
        "judge": judge,
        "seats": {seat: voice for seat, voice in params.seats.items() if seat == judge},
        "source_experiment": name,
    }
    defaults = {
        key: ExperimentConfig.model_fields[key].get_default()
        for key in fields_marked(passed_to_controls=False)
    }
    changes: dict[str, object] = {
        "protocol": ATTRIBUTION,
        "params": own_params,
        "control": ATTRIBUTION,
        "control_of": name,
        "study": config.study or entry.study,
        "calibration_cases": 0,
    }
    return config.model_copy(update=changes | defaults)


def _invalid_reason(name: str, config: ExperimentConfig, params: ProtocolParams) -> str:
    """Return why no model can judge an experiment's debates again, and the remedy; "" if it can."""
    debaters = PROTOCOLS[config.protocol].debaters
    if debaters is None or debaters.are_judges:
        return (
            f"protocol '{config.protocol}' has no judge who hears debaters and decides. Remove it,"
            f" and let a model judge the debates: an experiment of protocol '{ATTRIBUTION}' with"
            f" `params: {{source_experiment: {config.control_of or name}, source_model: MODEL}}`."
        )
    if is_person(params.seats.get(debaters.decider, "")):
        return (
            f"{debaters.decider} is a person's seat, but only a model can be asked again. Remove "
            "the key."
        )
    return ""


ANALYSES.register(ATTRIBUTION)(Attribution())
