"""`snakemake power`: what a plan's contrasts can show, and what it takes to show a difference:
cases, repeats, dollars.

How much cases and repeats vary is taken from pilot debates in `results/`, or else from a rehearsal
in `rehearsal/`. Where there is neither, a share of cases that one side alone gets right is assumed,
and a preview prices the debates.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import harmonic_mean
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from moot.commands.preview import usd_of_a_debate
from moot.commands.rehearsing import FOLDER as REHEARSAL
from moot.core.errors import UserError
from moot.core.experiment_config import RECORDED
from moot.core.types import JsonObject
from moot.plan.plan import Plan
from moot.report.columns import SIGNED, Columns
from moot.report.content import SIMULATED_NOTE, Figure, StudyResults, Table, TableContent
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
FEWEST_CASES = 10
PILOT, REHEARSED, ASSUMED = "pilot", "rehearsal (SIMULATED)", "assumption"
_SHARES = {"accuracy", "valid"}
_CORRECTNESS = {*_SHARES, "f1", "macro_f1"}
_HARDLY_VARIED = 0.1
"""Of the mean square of a case's difference: one case in ten, of right and wrong answers."""
SHOWN_REPEATS = (1, 3, 10)
ASSUMED_NOTE = (
    "Variances by assumption: no debates are known, and one side alone is taken to be right on as"
    " many cases as `power: discordant` says. Two methods that differ much disagree on more; a"
    " rehearsal or a pilot says on how many."
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
class Powered:
    """A contrast with what its debates so far say of its power.

    Attributes:
        source: `PILOT`, `REHEARSED`, or `ASSUMED`.
        cases: planned; one number for both sides if they argue the same cases, else one of either.
        available: cases that the data set has, likewise.
        repeats: planned, of either side.
        usd: dollars of one debate of all runs of either side; NaN where nothing says.
        goal, corrected: the test to plan for, and that at the level of Holm's first step.
        folder: where its debates are; None where both sides have none.
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


def planned_power(plan: Plan, recorded: bool = True) -> tuple[list[Powered], list[str]]:
    """What each contrast that this run tests can show; and a sentence for each of which no debates
    are known.

        `recorded`: with those of recorded debates, a pilot of debates to be held; no more of
            themselves can be.
    """
    found, unknown = [], []
    kept = {
        name
        for name, experiment in plan.experiments.items()
        if experiment.config.protocol == RECORDED
    }
    held = [one for one in plan.contrasts if not one.missing]
    held = [one for one in held if recorded or not {side.experiment for side in one.sides} <= kept]
    for family in group_by_family(held).values():
        for contrast in family:
            result = _powered(plan, contrast, len(family))
            if isinstance(result, str):
                unknown.append(f"{contrast.name}: {result}")
            else:
                found.append(result)
    return found, unknown


def _powered(plan: Plan, contrast: Contrast, tests: int) -> Powered | str:
    """A contrast's power, or what is missing."""
    for source, folder in ((PILOT, RESULTS), (REHEARSED, REHEARSAL / "results")):
        experiments = _results(plan, contrast, folder)
        difference = measure(contrast, experiments) if experiments else None
        if difference is None:
            continue
        sizes = [
            _planned_cases(plan, side, experiments[side.experiment]) for side in contrast.sides
        ]
        repeats = [plan.experiments[side.experiment].config.repeats for side in contrast.sides]
        for place, side in enumerate(contrast.sides):
            if plan.experiments[side.experiment].config.protocol == RECORDED:
                held = side_debates(side, experiments[side.experiment])
                runs = set(zip(held.terms.case_ids, held.models, strict=True))
                sizes[place] = len(set(held.terms.case_ids)), sizes[place][1]
                repeats[place] = round(len(held.models) / max(1, len(runs)))
        if difference.cases < min(FEWEST_CASES, *(available for _, available in sizes)):
            continue
        found = measure_spread(contrast, experiments, difference.difference)
        planned = _planned(
            plan, contrast, tests, source, found, _cost(plan, contrast, experiments), sizes
        )
        return replace(planned, folder=folder, repeats=(repeats[0], repeats[1]))
    cases = {
        side.experiment: _results(plan, contrast, RESULTS, debated=False) for side in contrast.sides
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
        usd = sum(usd_of_a_debate(plan, RESULTS, *run) for run in _runs(contrast))
        return _planned(
            plan,
            contrast,
            tests,
            ASSUMED,
            paired_proportions(plan.config.power.discordant),
            usd,
            sizes,
        )
    return (
        f"no debates of {FEWEST_CASES} cases or more by both sides, or of all; run `snakemake"
        " rehearse`, or a pilot"
    )


def _planned(
    plan: Plan,
    contrast: Contrast,
    tests: int,
    source: str,
    found: Spread,
    usd: float,
    sizes: Sequence[tuple[int, int]],
) -> Powered:
    """A contrast's power by a spread; `sizes` holds how many cases each side plans and has."""
    goal = Goal(plan.config.power.level, plan.config.power.power)
    first, second = (plan.experiments[side.experiment].config.repeats for side in contrast.sides)
    cases, available = ((min(one),) if contrast.paired else one for one in zip(*sizes, strict=True))
    corrected = replace(goal, level=goal.level / tests)
    return Powered(contrast, source, found, cases, (first, second), available, usd, goal, corrected)


def _results(
    plan: Plan, contrast: Contrast, folder: Path, debated: bool = True
) -> dict[str, ExperimentResults]:
    """The results of both sides in a folder; none where a model's, or the cases, are missing.

    Not `debated`: the cases suffice.
    """
    wanted: dict[str, dict[str, None]] = {}
    for side in contrast.sides:
        wanted.setdefault(side.experiment, {}).update(dict.fromkeys(side.models))
    files = [
        folder / "predictions" / name / f"{model}.parquet"
        for name, models in wanted.items()
        for model in models
    ]
    cases = [
        folder / "cases" / f"{plan.experiments[name].config.dataset}.parquet" for name in wanted
    ]
    if not all(path.is_file() for path in (*(files if debated else []), *cases)):
        return {}
    seed = plan.config.seed
    return {
        name: ExperimentResults(folder, name, plan.view(name, list(found)), seed)
        for name, found in wanted.items()
    }


def _planned_cases(plan: Plan, side: Side, results: ExperimentResults) -> tuple[int, int]:
    """How many cases a side takes, and how many its split has; of a side with some cases alone, in
    proportion.
    """
    config = plan.experiments[side.experiment].config
    known = results.cases[results.cases["split"] == config.split]
    fitting = [
        all(found.get(key) == value for key, value in side.cases.items())
        for found in known["attributes"]
    ]
    available = sum(fitting)
    return round((config.cases or len(known)) * available / max(1, len(known))), available


def _cost(plan: Plan, contrast: Contrast, experiments: Mapping[str, ExperimentResults]) -> float:
    """Dollars of one debate of each run, with a verdict; as the configuration says, else what
    debates so far cost.
    """
    if plan.config.power.usd_debate is not None:
        return plan.config.power.usd_debate
    of_runs = ((experiments[name].predictions, model) for name, model in _runs(contrast))
    return float(
        sum(rows.loc[rows["model"] == model, "cost_usd"].mean() for rows, model in of_runs)
    )


def _runs(contrast: Contrast) -> list[tuple[str, str]]:
    """The experiments and models of both sides; a run on both is paid once."""
    return list(
        dict.fromkeys((side.experiment, model) for side in contrast.sides for model in side.models)
    )


# What people read


def power_table(powered: Sequence[Powered], difference: float) -> TableContent:
    """One row a contrast; `difference` is the one that the user wants to show."""
    goal = powered[0].goal
    simulated = any(one.source == REHEARSED for one in powered)
    return COLUMNS.table(
        [_row(one, difference) for one in powered],
        [
            (
                f"Smallest difference: what a two-sided test at the level {goal.level:g} shows with"
                f" a probability of {goal.power:.0%}, with the planned cases and repeats; `after"
                " Holm` if it comes out as the first of its study's contrasts. Empty: none,"
                " however large, since there are too few cases."
            ),
            (
                "Cases, repeats, US dollars: the cheapest design that shows a difference of"
                f" {difference:g} (`power: difference`). One repeat is cheapest as long as there"
                " are cases. Where nothing is shown, the cases of the data set do not suffice;"
                " `cases, one repeat` says how many would."
            ),
            (
                "Variances: between cases (of the difference that many repeats would come to), and"
                " what one repeat of both sides adds. A dash: each case was debated once, so that"
                " the split is not known. Set `repeats: 2` or more in a pilot or rehearsal."
            ),
            (
                "Dollars are those of `power: usd_debate`, else of the debates"
                " that the variances come from, by the prices of the configuration; where none were"
                " held, those of a preview, in which every reply is as long as it may be."
            ),
            *([ASSUMED_NOTE] if any(one.source == ASSUMED for one in powered) else []),
            *([SIMULATED_NOTE] if simulated else []),
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


def _row(one: Powered, difference: float) -> JsonObject:
    spread_ = one.spread
    design = cheapest(difference, spread_, one.usd, min(one.available), one.goal)
    return {
        "contrast": one.contrast.name,
        "metric": one.contrast.first.metric,
        "variances from": one.source,
        "debated cases": _either(spread_.cases) if any(spread_.cases) else None,
        "difference found": spread_.difference if one.folder else None,
        "variance between cases": sum(spread_.between_variance),
        "variance of a repeat": sum(spread_.within) if spread_.is_split else None,
        "design effect": max(spread_.design),
        "planned cases": _either(one.cases),
        "planned repeats": _either(one.repeats),
        "smallest difference": smallest_difference(one.cases, spread_, one.repeats, one.goal),
        "after Holm": smallest_difference(one.cases, spread_, one.repeats, one.corrected),
        "to show": difference,
        "cases": design.cases if design else None,
        "repeats": design.repeats if design else None,
        "US dollars": design.cost if design else None,
        "cases, one repeat": float(np.ceil(cases_needed(difference, spread_, goal=one.goal))),
    }


def power_figure(powered: Sequence[Powered], difference: float) -> "MatplotlibFigure":
    """The smallest difference by the number of cases, a line a number of repeats; a panel a
    contrast.
    """
    low, high, points = _CURVE
    cases = np.geomspace(low, high, points)
    figure, used, _ = panels(len(powered), 2, 2.6)
    for one, axis in zip(powered, used, strict=False):
        for place, repeats in enumerate(
            SHOWN_REPEATS if one.spread.is_split else SHOWN_REPEATS[:1]
        ):
            shown = [
                smallest_difference(number, one.spread, (repeats, repeats), one.goal)
                for number in cases
            ]
            style = {**series_style(place), "marker": ""}
            axis.plot(cases, shown, label=f"{repeats} repeat{'s' * (repeats > 1)}", **style)
        planned = smallest_difference(one.cases, one.spread, one.repeats, one.goal)
        axis.plot(
            [harmonic_mean(one.cases)],
            [planned],
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
        axis.set(title=one.contrast.name, xlabel="cases", ylabel="smallest difference")
    used[0].legend()
    return figure


def write_power(plan: Plan) -> str:
    """Write `results/power/power.{csv,html,png,svg}`, and say in words what they hold.

    Raises:
        UserError: no contrast can be tested in this run, or of none are there debates.
    """
    powered, unknown = planned_power(plan)
    if not powered:
        left_out = f"none of the {len(plan.contrasts)} of the configuration is part of this run"
        reasons = unknown or [left_out if plan.contrasts else "the configuration names none"]
        raise UserError("power: no contrast to plan for.\n  " + "\n  ".join(reasons))
    wanted = plan.config.power.difference
    title, caption = (
        "What the planned comparisons can show",
        "Smallest differences, and what a given one takes.",
    )
    lines = [*power_lines(powered, wanted, plan.config.power.discordant), *unknown]
    lines.append(
        _written(
            Table("power", "power", title, caption, lambda _: power_table(powered, wanted)),
            Figure("power", "power", title, caption, lambda _: power_figure(powered, wanted)),
            any(one.source == REHEARSED for one in powered),
        )
    )
    return "\n".join(lines) + "\n"


def _written(table: Table, figure: Figure, simulated: bool) -> str:
    """Write a table and a figure, and say where; their writers ask for results, which are of no
    experiment here.
    """
    OUTPUT.mkdir(parents=True, exist_ok=True)
    published = pd.DataFrame(columns=list(PUBLISHED_COLUMNS))
    results = StudyResults("power", {}, no_scores(), {}, published, simulated=simulated)
    write_table(
        table, results, {ending: OUTPUT / f"{table.name}.{ending}" for ending in ("csv", "html")}
    )
    draw(figure, results, {ending: OUTPUT / f"{figure.name}.{ending}" for ending in ("png", "svg")})
    return f"Table and figure: {OUTPUT}/{table.name}.html, .csv, .png"


def summarise_power(plan: Plan) -> str:
    """What a preview says of the plan's contrasts; "" where this run tests none."""
    powered, unknown = planned_power(plan, recorded=False)
    if not (powered or unknown):
        return ""
    lines = ["What the planned comparisons can show (snakemake power):"]
    goal = plan.config.power
    lines += [
        f"  {line}" for line in (*power_lines(powered, goal.difference, goal.discordant), *unknown)
    ]
    return "\n".join(lines) + "\n"


def power_lines(powered: Sequence[Powered], difference: float, discordant: float) -> Iterator[str]:
    """Two lines a contrast: what the plan shows, and what the wanted difference takes.

    `discordant` is the share of cases that one side alone gets right, to assume where simulated
    voices hardly differ.
    """
    for one in powered:
        row = _row(one, difference)
        shown, needed = row["smallest difference"], row["cases, one repeat"]
        least = (
            "no difference, however large" if np.isnan(shown) else f"a difference of {shown:.3f}"
        )
        yield (
            f"{one.contrast.name} ({one.contrast.first.metric}, {_by(one)}): {_either(one.cases)}"
            f" cases x {_either(one.repeats)} show {least} at {one.goal.power:.0%} power."
        )
        mean_square = sum(one.spread.variances((1, 1))) + one.spread.difference**2
        of_answers = one.source == REHEARSED and one.contrast.first.metric in _CORRECTNESS
        of_either = "" if one.spread.is_paired else " of either side"
        if of_answers and mean_square < _HARDLY_VARIED:
            needed = np.ceil(cases_needed(difference, paired_proportions(discordant)))
            yield (
                "  The simulated voices of both sides hardly differ, which says little of models."
                f" If one side alone were right on {discordant:.0%} of the cases, {difference:g}"
                f" would take {needed:,.0f}."
            )
        elif row["cases"] is not None:
            taken = (
                f"{row['cases']} cases x {row['repeats']}{of_either}{_dollars(row['US dollars'])}"
            )
            yield f"  {difference:g} takes {taken}."
        else:
            taken = f"{needed:,.0f} cases x 1{of_either}{_dollars(needed * one.usd)}"
            yield f"  {difference:g} takes {taken}; the data set has {_either(one.available)}."


def _dollars(cost: float) -> str:
    return "" if np.isnan(cost) else f", ${cost:,.2f}"


def _by(one: Powered) -> str:
    """What a contrast's power rests on, in words."""
    if one.folder is None:
        apart = sum(one.spread.variances((1, 1)))
        return f"by {one.source}: one side alone is right on {apart:.0%} of the cases"
    return f"by {one.source} of {_either(one.spread.cases)} cases"


def _either(numbers: Sequence[int]) -> str:
    """A number, or those of either side where they differ."""
    return "/".join(map(str, dict.fromkeys(numbers)))
