"""The checked contrasts of a configuration, and which of them this run can test."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from moot.core.config import Config
from moot.core.config_errors import Faults
from moot.core.errors import UserError, unknown_name
from moot.core.experiment_config import COMPARISON, ContrastConfig, ExperimentConfig
from moot.protocols import PROTOCOLS
from moot.scores.case_metrics import CASE_METRICS
from moot.scores.contrasts import Contrast, Side

DescribePlace = Callable[..., str]


def check_contrasts(
    config: Config,
    experiments: Mapping[str, ExperimentConfig],
    untestable_reason: Callable[[str], str],
    describe_place: DescribePlace,
    faults: Faults,
) -> list[Contrast]:
    """Return the contrasts of a configuration.

    Args:
        config: the configuration.
        experiments: every experiment of it by name, grids expanded, also those outside of this run.
        untestable_reason: returns why this run cannot test an experiment, by its name; "" if it
            can.
        describe_place: returns file and key of a place in the configuration.
        faults: receives the faults: a contrast has an unknown name, compares a side with itself, or
            pairs different cases.
    """
    contrasts = []
    for name, entry in config.contrasts.items():
        with faults.noting():
            contrasts.append(_contrast(name, entry, experiments, untestable_reason, describe_place))
    return contrasts


def _contrast(
    name: str,
    entry: ContrastConfig,
    experiments: Mapping[str, ExperimentConfig],
    untestable_reason: Callable[[str], str],
    describe_place: DescribePlace,
) -> Contrast:
    second_key = "first" if entry.threshold is not None else "second"
    sides = [
        _read_side(getattr(entry, key), experiments, describe_place("contrasts", name, key))
        for key in ("first", second_key)
    ]
    first_models, second_models = _models_of_sides(*sides)
    first_metric, second_metric = entry.metric, entry.second_metric or entry.metric
    for key, metric in (("metric", first_metric), ("second_metric", second_metric)):
        if metric not in CASE_METRICS:
            place = describe_place("contrasts", name, key)
            raise unknown_name("metric of contrasts", metric, CASE_METRICS, place)
    first = Side(sides[0].experiment, first_models, first_metric, dict(entry.first_cases))
    second_cases = entry.first_cases if entry.threshold is not None else entry.second_cases
    second = Side(
        sides[1].experiment, second_models, second_metric, dict(second_cases), entry.threshold
    )
    _check_sides(first, second, entry.paired, describe_place("contrasts", name))
    reasons = [untestable_reason(side.experiment) for side in (first, second)]
    if not (first.models and second.models):
        reasons.append(
            f"{entry.first} and {entry.second} have no model in common. Name one on either side, "
            "as EXPERIMENT/MODEL"
        )
    studies = {_study_of(experiments[side.experiment]) for side in (first, second)}
    family = studies.pop() if len(studies) == 1 else COMPARISON
    missing = "; ".join(dict.fromkeys(filter(None, reasons)))
    return Contrast(
        name,
        entry.question,
        first,
        second,
        entry.direction,
        entry.paired,
        family,
        missing,
        entry.margin,
        entry.published,
    )


def _check_sides(first: Side, second: Side, is_paired: bool, place: str) -> None:
    """Require two sides that differ, over the same cases if they are paired."""
    if first == second:
        raise UserError(f"{place}: both sides are {first}; expected two that differ.")
    if is_paired and first.cases != second.cases:
        raise UserError(
            f"{place}: the sides select different cases, which cannot be paired. Add `paired: "
            "false`."
        )


@dataclass(frozen=True, slots=True)
class _SideEntry:
    """A side of a contrast as the configuration names it.

    Attributes:
        experiment: its name.
        experiment_models: all models of the experiment.
        model: the model that the side names; "" for none.
    """

    experiment: str
    experiment_models: tuple[str, ...]
    model: str


def _read_side(text: str, experiments: Mapping[str, ExperimentConfig], place: str) -> _SideEntry:
    """Read EXPERIMENT or EXPERIMENT/MODEL."""
    experiment, _, model = text.partition("/")
    if experiment not in experiments:
        raise unknown_name("experiment", experiment, experiments, place)
    models = experiments[experiment].models
    if model and model not in models:
        raise unknown_name(f"model of experiment '{experiment}'", model, models, place)
    return _SideEntry(experiment, models, model)


def _models_of_sides(
    first: _SideEntry, second: _SideEntry
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the models of both sides.

    A side has the model that it names, or else the one that the other side names, if its experiment
    has it. If neither names one, both have all models that they share. Two experiments with a model
    each are compared whatever its name: the records of people have no model in common with any.
    """
    if first.model or second.model:
        return (
            _select_model(first, first.model or second.model),
            _select_model(second, second.model or first.model),
        )
    if len(first.experiment_models) == len(second.experiment_models) == 1:
        return first.experiment_models, second.experiment_models
    shared = tuple(model for model in first.experiment_models if model in second.experiment_models)
    return shared, shared


def _select_model(side: _SideEntry, model: str) -> tuple[str, ...]:
    return tuple(name for name in side.experiment_models if name == model)


def _study_of(config: ExperimentConfig) -> str:
    if config.study or config.protocol not in PROTOCOLS:
        return config.study
    return PROTOCOLS[config.protocol].study
