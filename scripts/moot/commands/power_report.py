"""`snakemake power`: what the planned contrasts can show, and the cases that a difference needs.

The variances between cases and repeats come from debates in `results/`, such as a pilot. Without
them, the share of cases that one side alone gets right is assumed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, isfinite, isnan
from pathlib import Path

import pandas as pd

from moot.core.errors import CannotTellError, UserError
from moot.core.experiment_config import RECORDED
from moot.core.types import JsonObject
from moot.plan.plan import Plan
from moot.scores.contrasts import Contrast, Side, measure, measure_spread, sides_of
from moot.scores.inference_scope import assumed_spread, repeats_of
from moot.scores.results import ExperimentResults
from moot.stats.power import Goal, Spread, cases_needed, smallest_difference

RESULTS = Path("results")
OUTPUT = RESULTS / "power" / "power.csv"
MIN_CASES = 10
DEBATED, ASSUMED = "debates", "assumption"
_REPEATS = (1, 3)


@dataclass(frozen=True)
class ContrastPower:
    """What a contrast can show.

    Attributes:
        source: of the variances, `DEBATED` or `ASSUMED`.
        cases: the planned number; one number if both sides argue the same cases, else one for each
            side.
        available: the cases that the data set has on the side with fewer.
        repeats: the planned repeats of each side.
        goal: the test to plan for.
    """

    contrast: Contrast
    source: str
    spread: Spread
    cases: tuple[int, ...]
    available: int
    repeats: tuple[int, int]
    goal: Goal


def planned_power(plan: Plan) -> tuple[list[ContrastPower], list[str]]:
    """Return the power of each contrast of this run, and a sentence for each where it is unknown.

    Recorded debates cannot be extended, but serve as a pilot for new ones.
    """
    powers, reasons = [], []
    for contrast in plan.contrasts:
        if contrast.missing:
            continue
        try:
            powers.append(_contrast_power(plan, contrast))
        except CannotTellError as error:
            reasons.append(f"{contrast.name}: {error}")
    return powers, reasons


def _contrast_power(plan: Plan, contrast: Contrast) -> ContrastPower:
    """Return a contrast's power; raise `CannotTellError` if it is unknown."""
    fault = CannotTellError(
        f"both sides debated fewer than {MIN_CASES} cases, and not all; run a pilot, for example"
        " with `cases: 20`"
    )
    experiments = _load_results(plan, contrast, needs_debates=True)
    difference = measure(contrast, experiments) if experiments else None
    cases = experiments or _load_results(plan, contrast, needs_debates=False)
    if not cases:
        raise fault
    sides = [_planned_cases(plan, side, cases[side.experiment]) for side in contrast.sides]
    available = min(available for _, available in sides)
    if difference is not None and difference.cases >= min(MIN_CASES, available):
        source, spread = DEBATED, measure_spread(contrast, experiments)
    else:
        source, assumed = ASSUMED, assumed_spread(contrast, plan.config.power.discordant_share)
        if assumed is None:
            raise fault
        spread = assumed
    planned_cases = tuple(number for number, _ in sides)
    first, second = (plan.experiments[side.experiment].config.repeats for side in contrast.sides)
    if all(experiment.config.protocol == RECORDED for experiment in cases.values()):
        planned_cases, (first, second) = spread.cases, repeats_of(sides_of(contrast, experiments))
    return ContrastPower(
        contrast,
        source,
        spread,
        (min(planned_cases),) if contrast.paired else planned_cases,
        available,
        (first, second),
        Goal(plan.config.power.level, plan.config.power.power),
    )


def _load_results(
    plan: Plan, contrast: Contrast, *, needs_debates: bool
) -> dict[str, ExperimentResults]:
    """Load the results of both sides; nothing if cases, or needed debates, are missing."""
    models_by_experiment: dict[str, dict[str, None]] = {}
    for side in contrast.sides:
        models_by_experiment.setdefault(side.experiment, {}).update(dict.fromkeys(side.models))
    files: list[Path] = []
    for name, models in models_by_experiment.items():
        files.append(RESULTS / "cases" / f"{plan.experiments[name].config.dataset}.parquet")
        folder = RESULTS / "predictions" / name
        files += [folder / f"{model}.parquet" for model in models if needs_debates]
    if not all(path.is_file() for path in files):
        return {}
    return {
        name: ExperimentResults(RESULTS, name, plan.view(name, list(models)), plan.config.seed)
        for name, models in models_by_experiment.items()
    }


def _planned_cases(plan: Plan, side: Side, results: ExperimentResults) -> tuple[int, int]:
    """Return the number of cases of a side, and of its split.

    If a side has only some cases, the numbers are in proportion.
    """
    config = plan.experiments[side.experiment].config
    cases = results.cases[results.cases["split"] == config.split]
    available = sum(side.cases.items() <= attributes.items() for attributes in cases["attributes"])
    return round((config.cases or len(cases)) * available / max(1, len(cases))), available


def power_rows(powers: Sequence[ContrastPower], difference: float) -> Iterator[JsonObject]:
    """Yield one row per contrast; `difference` is the one to show."""
    for power in powers:
        spread, goal = power.spread, power.goal
        row: JsonObject = {
            "contrast": power.contrast.name,
            "metric": power.contrast.first.metric,
            "variances from": power.source,
            "cases": _join_sides(power.cases),
            "repeats": _join_sides(power.repeats),
            "smallest difference": smallest_difference(power.cases, spread, power.repeats, goal),
            "to show": difference,
        }
        for repeats in _REPEATS if spread.is_split else (1,):
            required = cases_needed(difference, spread, (repeats, repeats), goal)
            row[f"cases x {repeats}"] = ceil(required) if isfinite(required) else None
        yield row | {"cases of the data set": power.available}


def power_lines(powers: Sequence[ContrastPower], difference: float) -> Iterator[str]:
    """Yield two lines per contrast: what the plan shows, and what the wanted difference needs."""
    for power, row in zip(powers, power_rows(powers, difference), strict=True):
        smallest = row["smallest difference"]
        effect = "no difference" if isnan(smallest) else f"a difference of {smallest:.3f}"
        basis = f"by the debates of {_join_sides(power.spread.cases)} cases"
        if power.source == ASSUMED:
            share = sum(power.spread.between_variance)
            basis = f"by assumption: one side alone is right on {share:.0%} of the cases"
            if (threshold := power.contrast.second.threshold) is not None:
                basis = f"by assumption: right on {threshold:.0%} of the cases"
        yield (
            f"{row['contrast']} ({row['metric']}, {basis}): {row['cases']} cases x"
            f" {row['repeats']} show {effect} at {power.goal.power:.0%} power."
        )
        required = [
            f"{row[name]:,} {name}" for name in row if name.startswith("cases x") and row[name]
        ]
        per_side = "" if power.contrast.paired else " of either side"
        yield (
            f"  {difference:g} needs {' or '.join(required) or 'more than 1,000,000,000 cases'}"
            f"{per_side}; the data set has {power.available:,}."
        )


def write_power(plan: Plan) -> str:
    """Write `results/power/power.csv`, and return a summary.

    Raises:
        UserError: no contrast can be tested in this run, or the power of none is known.
    """
    powers, reasons = planned_power(plan)
    if not powers:
        left_out = (
            f"none of the configuration's {len(plan.contrasts)} contrasts is part of this run"
        )
        reasons = reasons or [left_out if plan.contrasts else "the configuration names none"]
        raise UserError("power: no contrast can be planned.\n  " + "\n  ".join(reasons))
    difference = plan.config.power.difference
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(list(power_rows(powers, difference))).to_csv(OUTPUT, index=False)
    return "\n".join([*power_lines(powers, difference), *reasons, f"Table: {OUTPUT}"]) + "\n"


def _join_sides(numbers: Sequence[int]) -> str:
    """Return a number, or both sides' numbers if they differ."""
    return "/".join(map(str, dict.fromkeys(numbers)))
