"""The power of a plan's contrasts: what they can show, and what a debate costs.

The variances between cases and repeats come from pilot debates in `results/`, or else from a
rehearsal in `rehearsal/`. Without both, the share of cases that one side alone gets right is
assumed, and a preview estimates the prices.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from moot.commands.preview import usd_per_debate
from moot.commands.rehearsing import FOLDER as REHEARSAL
from moot.core.errors import CannotTellError
from moot.core.experiment_config import RECORDED
from moot.plan.plan import Plan
from moot.scores.contrasts import (
    Contrast,
    Side,
    group_by_family,
    measure,
    measure_spread,
    side_debates,
)
from moot.scores.results import ExperimentResults
from moot.stats.power import Goal, Spread, paired_proportions

RESULTS = Path("results")
MIN_CASES = 10
PILOT, REHEARSED, ASSUMED = "pilot", "rehearsal (SIMULATED)", "assumption"
SHARES = {"accuracy", "valid"}


@dataclass(frozen=True)
class ContrastPower:
    """The power of a contrast, as estimated from its debates so far.

    Attributes:
        source: `PILOT`, `REHEARSED`, or `ASSUMED`.
        cases: the planned number; one number if both sides argue the same cases, else one for each
            side.
        available: the cases that the data set has, likewise.
        repeats: the planned repeats of each side.
        usd: dollars of one debate of all runs of both sides; NaN if unknown.
        goal, corrected: the test to plan for, and the test at the level of Holm's first step.
        folder: the folder of its debates; None without debates of both sides.
    """

    contrast: Contrast
    source: str
    spread: Spread
    cases: tuple[int, ...]
    repeats: tuple[int, int]
    available: tuple[int, ...]
    usd: float
    goal: Goal
    corrected: Goal
    folder: Path | None = None


class _PlannedSide(NamedTuple):
    """The planned cases and repeats of a side, and the cases that its data set has."""

    cases: int
    repeats: int
    available: int


def planned_power(
    plan: Plan, include_recorded: bool = True
) -> tuple[list[ContrastPower], list[str]]:
    """Return the power of each contrast of this run, and a sentence for each without debates.

    `include_recorded` adds contrasts of recorded debates. These cannot be extended, but serve as a
    pilot for new debates.
    """
    powers, reasons = [], []
    recorded_names = {
        name
        for name, experiment in plan.experiments.items()
        if experiment.config.protocol == RECORDED
    }
    contrasts = []
    for contrast in plan.contrasts:
        experiments = {side.experiment for side in contrast.sides}
        is_recorded = experiments <= recorded_names
        if not contrast.missing and (include_recorded or not is_recorded):
            contrasts.append(contrast)
    for family in group_by_family(contrasts).values():
        for contrast in family:
            result = _contrast_power(plan, contrast, len(family))
            if isinstance(result, str):
                reasons.append(f"{contrast.name}: {result}")
            else:
                powers.append(result)
    return powers, reasons


def _contrast_power(plan: Plan, contrast: Contrast, tests: int) -> ContrastPower | str:
    """Return a contrast's power, or the reason why it is unknown."""
    try:
        for source, folder in ((PILOT, RESULTS), (REHEARSED, REHEARSAL / "results")):
            power = _power_by_debates(plan, contrast, tests, source, folder)
            if power is not None:
                return power
    except CannotTellError as error:
        return str(error)
    return _power_by_assumption(plan, contrast, tests) or (
        f"both sides debated fewer than {MIN_CASES} cases, and not all; run `snakemake rehearse`,"
        " or a pilot"
    )


def _power_by_debates(
    plan: Plan, contrast: Contrast, tests: int, source: str, folder: Path
) -> ContrastPower | None:
    """Return a contrast's power by the debates in a folder; None if these are too few.

    Raises:
        CannotTellError: the metric of a side does not apply to its experiment.
    """
    experiments = _results(plan, contrast, folder)
    difference = measure(contrast, experiments) if experiments else None
    if difference is None:
        return None
    sides = [_debated_side(plan, side, experiments[side.experiment]) for side in contrast.sides]
    if difference.cases < min(MIN_CASES, *(side.available for side in sides)):
        return None
    spread = measure_spread(contrast, experiments, difference.difference)
    usd = _debate_cost(plan, contrast, experiments)
    power = _power_by_spread(plan, contrast, tests, source, spread, usd, sides)
    return replace(power, folder=folder)


def _power_by_assumption(plan: Plan, contrast: Contrast, tests: int) -> ContrastPower | None:
    """Return the power of a paired contrast of shares by `power: discordant_share`.

    None for another contrast, or without the cases.
    """
    metrics = {side.metric for side in contrast.sides}
    experiments = _results(plan, contrast, RESULTS, needs_debates=False)
    if not (experiments and contrast.paired and metrics <= SHARES):
        return None
    sides = [_planned_side(plan, side, experiments[side.experiment]) for side in contrast.sides]
    spread = paired_proportions(plan.config.power.discordant_share)
    usd = sum(usd_per_debate(plan, RESULTS, *run) for run in _runs(contrast))
    return _power_by_spread(plan, contrast, tests, ASSUMED, spread, usd, sides)


def _power_by_spread(
    plan: Plan,
    contrast: Contrast,
    tests: int,
    source: str,
    spread: Spread,
    usd: float,
    sides: Sequence[_PlannedSide],
) -> ContrastPower:
    """Return a contrast's power from a spread."""
    goal = Goal(plan.config.power.level, plan.config.power.power)
    cases = tuple(side.cases for side in sides)
    available = tuple(side.available for side in sides)
    first, second = sides
    return ContrastPower(
        contrast,
        source,
        spread,
        (min(cases),) if contrast.paired else cases,
        (first.repeats, second.repeats),
        (min(available),) if contrast.paired else available,
        usd,
        goal,
        corrected=replace(goal, level=goal.level / tests),
    )


def _planned_side(plan: Plan, side: Side, results: ExperimentResults) -> _PlannedSide:
    """Return the cases and repeats of a side by the configuration."""
    cases, available = _planned_cases(plan, side, results)
    return _PlannedSide(cases, plan.experiments[side.experiment].config.repeats, available)


def _debated_side(plan: Plan, side: Side, results: ExperimentResults) -> _PlannedSide:
    """Return the cases and repeats of a side; recorded debates, which cannot be extended, are
    counted.
    """
    planned = _planned_side(plan, side, results)
    if plan.experiments[side.experiment].config.protocol != RECORDED:
        return planned
    debates = side_debates(side, results)
    runs = set(zip(debates.terms.case_ids, debates.models, strict=True))
    repeats = round(len(debates.models) / max(1, len(runs)))
    return _PlannedSide(len(set(debates.terms.case_ids)), repeats, planned.available)


def _results(
    plan: Plan, contrast: Contrast, folder: Path, needs_debates: bool = True
) -> dict[str, ExperimentResults]:
    """Load the results of both sides from a folder.

    Nothing is returned if the results of a model, or the cases, are missing. Without
    `needs_debates` the cases suffice.
    """
    models_by_experiment: dict[str, dict[str, None]] = {}
    for side in contrast.sides:
        models_by_experiment.setdefault(side.experiment, {}).update(dict.fromkeys(side.models))
    files: list[Path] = []
    for name, models in models_by_experiment.items():
        files += [folder / "predictions" / name / f"{model}.parquet" for model in models]
    cases = [
        folder / "cases" / f"{plan.experiments[name].config.dataset}.parquet"
        for name in models_by_experiment
    ]
    if not all(path.is_file() for path in (*(files if needs_debates else []), *cases)):
        return {}
    seed = plan.config.seed
    return {
        name: ExperimentResults(folder, name, plan.view(name, list(model_names)), seed)
        for name, model_names in models_by_experiment.items()
    }


def _planned_cases(plan: Plan, side: Side, results: ExperimentResults) -> tuple[int, int]:
    """Return the number of cases of a side, and of its split.

    If a side has only some cases, the numbers are in proportion.
    """
    config = plan.experiments[side.experiment].config
    cases = results.cases[results.cases["split"] == config.split]
    available = sum(side.cases.items() <= attributes.items() for attributes in cases["attributes"])
    return round((config.cases or len(cases)) * available / max(1, len(cases))), available


def _debate_cost(
    plan: Plan, contrast: Contrast, experiments: Mapping[str, ExperimentResults]
) -> float:
    """Return the dollars of one debate of each run, including a verdict.

    The configuration states them. Otherwise they come from the debates so far.
    """
    if plan.config.power.usd_per_debate is not None:
        return plan.config.power.usd_per_debate
    predictions_of_runs = (
        (experiments[name].predictions, model) for name, model in _runs(contrast)
    )
    return float(
        sum(
            rows.loc[rows["model"] == model, "cost_usd"].mean()
            for rows, model in predictions_of_runs
        )
    )


def _runs(contrast: Contrast) -> list[tuple[str, str]]:
    """Return the experiments and models of both sides; a run on both sides is paid for once."""
    runs: dict[tuple[str, str], None] = {}
    for side in contrast.sides:
        runs |= dict.fromkeys((side.experiment, model) for model in side.models)
    return list(runs)
