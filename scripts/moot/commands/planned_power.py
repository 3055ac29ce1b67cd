"""`snakemake power`: what a plan's contrasts can show, and the cost of showing a difference.

The cost is given in cases, repeats and dollars.

The variances between cases and repeats come from pilot debates in `results/`, or else from a
rehearsal in `rehearsal/`. Without both, the share of cases that one side alone gets right is
assumed, and a preview estimates the prices.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import harmonic_mean
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from moot.commands.preview import usd_per_debate
from moot.commands.rehearsing import FOLDER as REHEARSAL
from moot.core.amount_text import dollars_text
from moot.core.errors import CannotTellError, UserError
from moot.core.experiment_config import RECORDED
from moot.core.types import JsonObject
from moot.plan.plan import Plan
from moot.report.columns import SIGNED, Columns
from moot.report.content import REHEARSAL_NOTE, Figure, StudyResults, Table, TableContent
from moot.report.figures import draw, panels, series_style
from moot.report.published import COLUMNS as PUBLISHED_COLUMNS
from moot.report.tables import write_table
from moot.scores import no_scores
from moot.scores.contrasts import (
    Contrast,
    Side,
    group_by_family,
    measure,
    measure_spread,
    side_debates,
)
from moot.scores.results import ExperimentResults
from moot.stats.power import (
    Goal,
    Spread,
    cases_needed,
    cheapest,
    paired_proportions,
    smallest_difference,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

RESULTS = Path("results")
OUTPUT = RESULTS / "power"
MIN_CASES = 10
PILOT, REHEARSED, ASSUMED = "pilot", "rehearsal (SIMULATED)", "assumption"
_SHARES = {"accuracy", "valid"}
_CORRECTNESS = {*_SHARES, "f1", "macro_f1"}
_MIN_MEAN_SQUARE = 0.1
"""The minimum mean square of a case's difference, as if one case in ten deviated."""
REPEATS_IN_FIGURE = (1, 3, 10)
ASSUMED_NOTE = (
    "The variances are assumed, since there are no debates: only one side is right on the share "
    "`power: discordant_share` of the cases. Very different methods disagree on more cases; a "
    "rehearsal or a pilot shows on how many."
)
_CURVE = (20.0, 5000.0, 60)
_CASE_TICKS, _DIFFERENCE_TICKS = (
    (20, 50, 100, 200, 500, 1000, 5000),
    (
        0.01,
        0.02,
        0.05,
        0.1,
        0.2,
        0.5,
    ),
)


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
    for source, folder in ((PILOT, RESULTS), (REHEARSED, REHEARSAL / "results")):
        experiments = _results(plan, contrast, folder)
        try:
            difference = measure(contrast, experiments) if experiments else None
        except CannotTellError as error:
            return str(error)
        if difference is None:
            continue
        sizes = [
            _planned_cases(plan, side, experiments[side.experiment]) for side in contrast.sides
        ]
        repeats = [plan.experiments[side.experiment].config.repeats for side in contrast.sides]
        for place, side in enumerate(contrast.sides):
            if plan.experiments[side.experiment].config.protocol == RECORDED:
                debates = side_debates(side, experiments[side.experiment])
                runs = set(zip(debates.terms.case_ids, debates.models, strict=True))
                sizes[place] = len(set(debates.terms.case_ids)), sizes[place][1]
                repeats[place] = round(len(debates.models) / max(1, len(runs)))
        if difference.cases < min(MIN_CASES, *(available for _, available in sizes)):
            continue
        observed_spread = measure_spread(contrast, experiments, difference.difference)
        power = _power_by_spread(
            plan,
            contrast,
            tests,
            source,
            observed_spread,
            _debate_cost(plan, contrast, experiments),
            sizes,
        )
        return replace(power, folder=folder, repeats=(repeats[0], repeats[1]))
    cases = {
        side.experiment: _results(plan, contrast, RESULTS, needs_debates=False)
        for side in contrast.sides
    }
    if (
        contrast.paired
        and {side.metric for side in contrast.sides} <= _SHARES
        and all(cases.values())
    ):
        sizes = [
            _planned_cases(plan, side, cases[side.experiment][side.experiment])
            for side in contrast.sides
        ]
        usd = sum(usd_per_debate(plan, RESULTS, *run) for run in _runs(contrast))
        return _power_by_spread(
            plan,
            contrast,
            tests,
            ASSUMED,
            paired_proportions(plan.config.power.discordant_share),
            usd,
            sizes,
        )
    return (
        f"both sides debated fewer than {MIN_CASES} cases, and not all; run `snakemake rehearse`,"
        " or a pilot"
    )


def _power_by_spread(
    plan: Plan,
    contrast: Contrast,
    tests: int,
    source: str,
    observed_spread: Spread,
    usd: float,
    sizes: Sequence[tuple[int, int]],
) -> ContrastPower:
    """Return a contrast's power from a spread.

    `sizes` holds each side's numbers of planned and available cases.
    """
    goal = Goal(plan.config.power.level, plan.config.power.power)
    first, second = (plan.experiments[side.experiment].config.repeats for side in contrast.sides)
    cases, available = (
        (min(counts),) if contrast.paired else counts for counts in zip(*sizes, strict=True)
    )
    corrected = replace(goal, level=goal.level / tests)
    return ContrastPower(
        contrast, source, observed_spread, cases, (first, second), available, usd, goal, corrected
    )


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


# What people read


def power_table(powers: Sequence[ContrastPower], difference: float) -> TableContent:
    """Return the table of power, one row per contrast.

    `difference` is the one that the user wants to show.
    """
    goal = powers[0].goal
    is_rehearsed = any(power.source == REHEARSED for power in powers)
    return COLUMNS.table(
        [_power_row(power, difference) for power in powers],
        [
            (
                "Smallest difference: the difference that a two-sided test at the level "
                f"{goal.level:g} shows with a probability of {goal.power:.0%}, with the planned "
                "cases and repeats. `after Holm` is the same at the level of Holm's first step. "
                "An empty cell means that no difference can be shown, since there are too few "
                "cases."
            ),
            (
                "Cases, repeats, US dollars: the cheapest design that shows a difference of "
                f"{difference:g} (`power: difference`). One repeat is cheapest as long as there "
                "are further cases. An empty cell means that the cases of the data set do not "
                "suffice; `cases, one repeat` is the number that would."
            ),
            (
                "Variances: between cases (of the mean difference over many repeats), and the "
                "variance that one repeat of both sides adds. A dash means that each case was "
                "debated once, so that the two cannot be separated. Set `repeats: 2` or more in "
                "a pilot or rehearsal."
            ),
            (
                "Dollars come from `power: usd_per_debate`, or else from the debates behind the "
                "variances, by the prices of the configuration. Without debates they come from "
                "a preview, in which every reply has the maximum length."
            ),
            *([ASSUMED_NOTE] if any(power.source == ASSUMED for power in powers) else []),
            *([REHEARSAL_NOTE] if is_rehearsed else []),
        ],
    )


COLUMNS = (
    Columns()
    .plain("contrast", "metric", "variances from", "debated cases")
    .plain("difference found", digits=SIGNED)
    .plain(
        "variance between cases",
        "variance of a repeat",
        "design effect",
        "planned cases",
        "planned repeats",
    )
    .plain("smallest difference", "after Holm", "to show")
    .counts("cases", "repeats")
    .plain("US dollars", digits=",.2f")
    .plain("cases, one repeat", digits=",.0f")
    .short_form(
        "contrast",
        "metric",
        "smallest difference",
        "after Holm",
        "to show",
        "cases",
        "repeats",
        "US dollars",
    )
)


def _power_row(power: ContrastPower, difference: float) -> JsonObject:
    spread_ = power.spread
    design = cheapest(difference, spread_, power.usd, min(power.available), power.goal)
    return {
        "contrast": power.contrast.name,
        "metric": power.contrast.first.metric,
        "variances from": power.source,
        "debated cases": _join_sides(spread_.cases) if any(spread_.cases) else None,
        "difference found": spread_.difference if power.folder else None,
        "variance between cases": sum(spread_.between_variance),
        "variance of a repeat": sum(spread_.within) if spread_.is_split else None,
        "design effect": max(spread_.design),
        "planned cases": _join_sides(power.cases),
        "planned repeats": _join_sides(power.repeats),
        "smallest difference": smallest_difference(power.cases, spread_, power.repeats, power.goal),
        "after Holm": smallest_difference(power.cases, spread_, power.repeats, power.corrected),
        "to show": difference,
        "cases": design.cases if design else None,
        "repeats": design.repeats if design else None,
        "US dollars": design.cost if design else None,
        "cases, one repeat": float(np.ceil(cases_needed(difference, spread_, goal=power.goal))),
    }


def power_figure(powers: Sequence[ContrastPower], difference: float) -> "MatplotlibFigure":
    """Draw the smallest difference by the number of cases.

    There is a panel per contrast with a line per number of repeats.
    """
    low, high, points = _CURVE
    cases = np.geomspace(low, high, points)
    figure, axes, _ = panels(len(powers), 2, 2.6)
    for power, axis in zip(powers, axes, strict=False):
        for place, repeats in enumerate(
            REPEATS_IN_FIGURE if power.spread.is_split else REPEATS_IN_FIGURE[:1]
        ):
            differences = [
                smallest_difference(number, power.spread, (repeats, repeats), power.goal)
                for number in cases
            ]
            style = {**series_style(place), "marker": ""}
            axis.plot(cases, differences, label=f"{repeats} repeat{'s' * (repeats > 1)}", **style)
        planned_difference = smallest_difference(
            power.cases, power.spread, power.repeats, power.goal
        )
        axis.plot(
            [harmonic_mean(power.cases)],
            [planned_difference],
            linestyle="",
            marker="o",
            color="black",
            label="planned",
        )
        axis.axhline(difference, color="grey", linewidth=0.8, linestyle=":")
        for scale, ticks in ((axis.xaxis, _CASE_TICKS), (axis.yaxis, _DIFFERENCE_TICKS)):
            scale.axes.set(**{f"{scale.axis_name}scale": "log"})
            scale.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
            scale.set_ticks([], minor=True)
        axis.set(title=power.contrast.name, xlabel="cases", ylabel="smallest difference")
    axes[0].legend()
    return figure


def write_power(plan: Plan) -> str:
    """Write `results/power/power.{csv,html,png,svg}`, and return a summary.

    Raises:
        UserError: no contrast can be tested in this run, or none has debates.
    """
    powers, unknown = planned_power(plan)
    if not powers:
        left_out = (
            f"none of the configuration's {len(plan.contrasts)} contrasts is part of this run"
        )
        reasons = unknown or [left_out if plan.contrasts else "the configuration names none"]
        raise UserError("power: there is no contrast to plan for.\n  " + "\n  ".join(reasons))
    difference = plan.config.power.difference
    title, caption = (
        "What the planned comparisons can show",
        "Smallest differences, and the cost of showing a given one.",
    )
    lines = [*power_lines(powers, difference, plan.config.power.discordant_share), *unknown]
    lines.append(
        _write_outputs(
            Table("power", "power", title, caption, lambda _: power_table(powers, difference)),
            Figure("power", "power", title, caption, lambda _: power_figure(powers, difference)),
            any(power.source == REHEARSED for power in powers),
        )
    )
    return "\n".join(lines) + "\n"


def _write_outputs(table: Table, figure: Figure, is_rehearsal: bool) -> str:
    """Write a table and a figure, and return their paths.

    The writers expect the results of a study; here these are empty.
    """
    OUTPUT.mkdir(parents=True, exist_ok=True)
    published = pd.DataFrame(columns=list(PUBLISHED_COLUMNS))
    results = StudyResults("power", {}, no_scores(), {}, published, is_rehearsal=is_rehearsal)
    write_table(
        table, results, {ending: OUTPUT / f"{table.name}.{ending}" for ending in ("csv", "html")}
    )
    draw(figure, results, {ending: OUTPUT / f"{figure.name}.{ending}" for ending in ("png", "svg")})
    return f"Table and figure: {OUTPUT}/{table.name}.html, .csv, .png"


def summarise_power(plan: Plan) -> str:
    """Return a preview's summary of the contrasts' power; "" if this run tests none."""
    powers, reasons = planned_power(plan, include_recorded=False)
    if not (powers or reasons):
        return ""
    lines = ["What the planned comparisons can show (snakemake power):"]
    goal = plan.config.power
    lines += [
        f"  {line}"
        for line in (*power_lines(powers, goal.difference, goal.discordant_share), *reasons)
    ]
    return "\n".join(lines) + "\n"


def power_lines(
    powers: Sequence[ContrastPower], difference: float, discordant: float
) -> Iterator[str]:
    """Yield two lines per contrast: what the plan shows, and what the wanted difference requires.

    `discordant` is the share of cases that one side alone gets right; it is assumed if the voices
    of a rehearsal hardly differ.
    """
    for power in powers:
        row = _power_row(power, difference)
        smallest, min_cases = row["smallest difference"], row["cases, one repeat"]
        effect = (
            "no difference of any size" if np.isnan(smallest) else f"a difference of {smallest:.3f}"
        )
        yield (
            f"{power.contrast.name} ({power.contrast.first.metric}, {_basis(power)}):"
            f" {_join_sides(power.cases)}"
            f" cases x {_join_sides(power.repeats)} show {effect} at {power.goal.power:.0%} power."
        )
        mean_square = sum(power.spread.variances((1, 1))) + power.spread.difference**2
        is_simulated_correctness = (
            power.source == REHEARSED and power.contrast.first.metric in _CORRECTNESS
        )
        per_side = "" if power.spread.is_paired else " of either side"
        if is_simulated_correctness and mean_square < _MIN_MEAN_SQUARE:
            min_cases = np.ceil(cases_needed(difference, paired_proportions(discordant)))
            yield (
                "  The simulated voices of both sides hardly differ, which says little about "
                f"models. If only one side were right on {discordant:.0%} of the cases, showing "
                f"{difference:g} would need {min_cases:,.0f}."
            )
        elif row["cases"] is not None:
            design = (
                f"{row['cases']} cases x {row['repeats']}{per_side}{_dollars(row['US dollars'])}"
            )
            yield f"  {difference:g} takes {design}."
        else:
            design = f"{min_cases:,.0f} cases x 1{per_side}{_dollars(min_cases * power.usd)}"
            available = _join_sides(power.available)
            yield f"  Showing {difference:g} needs {design}; the data set has {available}."


def _dollars(cost: float) -> str:
    return "" if np.isnan(cost) else f", {dollars_text(cost, '$')}"


def _basis(power: ContrastPower) -> str:
    """Return the basis of a contrast's power in words."""
    if power.folder is None:
        discordant = sum(power.spread.variances((1, 1)))
        return f"by {power.source}: one side alone is right on {discordant:.0%} of the cases"
    return f"by {power.source} of {_join_sides(power.spread.cases)} cases"


def _join_sides(numbers: Sequence[int]) -> str:
    """Return a number, or both sides' numbers if they differ."""
    return "/".join(map(str, dict.fromkeys(numbers)))
