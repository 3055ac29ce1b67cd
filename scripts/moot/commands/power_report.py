"""`snakemake power`: the table, the figure and the sentences on the power of planned contrasts."""

from collections.abc import Iterator, Sequence
from statistics import harmonic_mean
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from moot.commands.planned_power import (
    ASSUMED,
    REHEARSED,
    RESULTS,
    SHARES,
    ContrastPower,
    planned_power,
)
from moot.core.amount_text import dollars_text
from moot.core.errors import UserError
from moot.core.types import JsonObject
from moot.plan.plan import Plan
from moot.report.columns import SIGNED, Columns
from moot.report.content import Figure, Table, TableContent
from moot.report.figures import draw, panels, series_style
from moot.report.notes import REHEARSAL_NOTE
from moot.report.published import COLUMNS as PUBLISHED_COLUMNS
from moot.report.study_results import StudyResults
from moot.report.tables import write_table
from moot.scores import no_scores
from moot.stats.power import cases_needed, cheapest, paired_proportions, smallest_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

OUTPUT = RESULTS / "power"
_CORRECTNESS = {*SHARES, "f1", "macro_f1"}
_MIN_MEAN_SQUARE = 0.1
"""The minimum mean square of a case's difference, as if one case in ten deviated."""
REPEATS_IN_FIGURE = (1, 3, 10)
ASSUMED_NOTE = (
    "The variances are assumed, since there are no debates: only one side is right on the share "
    "`power: discordant_share` of the cases. Very different methods disagree on more cases; a "
    "rehearsal or a pilot shows on how many."
)
_CURVE = (20.0, 5000.0, 60)
_CASE_TICKS = (20, 50, 100, 200, 500, 1000, 5000)
_DIFFERENCE_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
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
)


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


def _power_row(power: ContrastPower, difference: float) -> JsonObject:
    spread = power.spread
    design = cheapest(difference, spread, power.usd, min(power.available), power.goal)
    return {
        "contrast": power.contrast.name,
        "metric": power.contrast.first.metric,
        "variances from": power.source,
        "debated cases": _join_sides(spread.cases) if any(spread.cases) else None,
        "difference found": spread.difference if power.folder else None,
        "variance between cases": sum(spread.between_variance),
        "variance of a repeat": sum(spread.within) if spread.is_split else None,
        "design effect": max(spread.design),
        "planned cases": _join_sides(power.cases),
        "planned repeats": _join_sides(power.repeats),
        "smallest difference": smallest_difference(power.cases, spread, power.repeats, power.goal),
        "after Holm": smallest_difference(power.cases, spread, power.repeats, power.corrected),
        "to show": difference,
        "cases": design.cases if design else None,
        "repeats": design.repeats if design else None,
        "US dollars": design.cost if design else None,
        "cases, one repeat": float(np.ceil(cases_needed(difference, spread, goal=power.goal))),
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
        raise UserError("power: no contrast can be planned.\n  " + "\n  ".join(reasons))
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

    `discordant` is the share of cases that one side alone gets right; it is assumed if the answers
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
                "  The rehearsed answers of both sides hardly differ, which says little about "
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
