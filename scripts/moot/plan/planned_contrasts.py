"""The contrasts of a configuration, checked: what they name, and what this run can test."""

from collections.abc import Callable, Mapping

from moot.core.config import Config
from moot.core.errors import UserError, unknown_name
from moot.core.experiment_config import COMPARISON, ContrastConfig, ExperimentConfig
from moot.core.places import Faults
from moot.hooks import analyses
from moot.protocols import PROTOCOLS
from moot.scores.case_metrics import CASE_METRICS
from moot.scores.contrasts import Contrast, ContrastTest, Side

Where = Callable[..., str]


def check_contrasts(
    config: Config,
    known: Mapping[str, ExperimentConfig],
    unable: Callable[[str], str],
    where: Where,
    faults: Faults,
) -> list[Contrast]:
    """The contrasts of a configuration.

    Args:
        config: the configuration.
        known: every experiment of it by name, grids expanded, also those outside of this run.
        unable: why this run cannot test an experiment, by its name; "" where it can.
        where: file and key of a place in the configuration.
        faults: takes what is wrong: a contrast names what there is not, compares a side with
            itself, or pairs different cases.
    """
    checked = []
    for name, entry in config.contrasts.items():
        with faults.noting():
            checked.append(_contrast(name, entry, known, unable, where))
    return checked


def _contrast(
    name: str,
    entry: ContrastConfig,
    known: Mapping[str, ExperimentConfig],
    unable: Callable[[str], str],
    where: Where,
) -> Contrast:
    named = [
        _named(getattr(entry, key), known, where("contrasts", name, key))
        for key in ("first", "second")
    ]
    models = _models(*named)
    metrics = entry.metric, entry.second_metric or entry.metric
    for key, metric in zip(("metric", "second_metric"), metrics, strict=True):
        if metric not in CASE_METRICS:
            raise unknown_name(
                "metric of contrasts", metric, CASE_METRICS, where("contrasts", name, key)
            )
    cases = dict(entry.first_cases), dict(entry.second_cases)
    first, second = (Side(named[i][0], models[i], metrics[i], cases[i]) for i in (0, 1))
    if first == second:
        raise UserError(
            f"{where('contrasts', name)}: both sides are {first}; expected two that differ."
        )
    if entry.paired and first.cases != second.cases:
        raise UserError(
            f"{where('contrasts', name)}: the sides take different cases, so that none can be"
            " paired. Add `paired: false`."
        )
    reasons = dict.fromkeys(filter(None, (unable(side.experiment) for side in (first, second))))
    if not (first.models and second.models):
        reasons[
            f"{entry.first} and {entry.second} share no model: name one on either side, as"
            " EXPERIMENT/MODEL"
        ] = None
    studies = {_study(known[side.experiment]) for side in (first, second)}
    family = studies.pop() if len(studies) == 1 else COMPARISON
    missing = "; ".join(reasons)
    test = _find_test(entry, known[first.experiment].cases or 0)
    if test and entry.margin:
        raise UserError(
            f"{where('contrasts', name, 'margin')}: `{test.margin_key}` is the margin. Leave"
            " `margin` out."
        )
    return Contrast(
        name,
        entry.question,
        first,
        second,
        entry.direction,
        entry.paired,
        family,
        missing,
        test,
        test.margin if test else entry.margin,
    )


def _find_test(entry: ContrastConfig, cases: int) -> ContrastTest | None:
    """The test that an analysis puts in place of the usual one; None where none does."""
    tests = (analysis.contrast_test(entry, cases) for analysis in analyses())
    return next((test for test in tests if test), None)


def _named(
    text: str, known: Mapping[str, ExperimentConfig], place: str
) -> tuple[str, tuple[str, ...], str]:
    """The experiment that a side names, its models, and the model that is named, if any."""
    experiment, _, model = text.partition("/")
    if experiment not in known:
        raise unknown_name("experiment", experiment, known, place)
    models = known[experiment].models
    if model and model not in models:
        raise unknown_name(f"model of experiment '{experiment}'", model, models, place)
    return experiment, models, model


def _models(
    first: tuple[str, tuple[str, ...], str], second: tuple[str, tuple[str, ...], str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The models of both sides: those that they name, the other side's where one names none, or all
    that they share.
    """
    wanted = [(side[2] or other[2], side[1]) for side, other in ((first, second), (second, first))]
    if any(model for model, _ in wanted):
        one, other = (tuple(name for name in models if name == model) for model, models in wanted)
        return one, other
    shared = tuple(model for model in first[1] if model in second[1])
    return shared, shared


def _study(config: ExperimentConfig) -> str:
    return config.study or (
        PROTOCOLS[config.protocol].study if config.protocol in PROTOCOLS else ""
    )
