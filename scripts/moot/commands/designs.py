"""What the next dollar should buy: the standard error of a contrast by cases, debates, judges,
wordings and repeats.

Components of variance are those of pilot debates, or else of a rehearsal; wordings are experiments
that are a side's own but for `prompts`. Dollars are those of these debates, or `power: usd_debate`
and `usd_verdict`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from moot.core.experiment_config import RECORDED
from moot.plan.plan import Plan
from moot.report.columns import Columns, Row
from moot.report.content import TableContent
from moot.report.figures import logarithmic, panels, series_style
from moot.scores.contrasts import Contrast, Side, sides_of
from moot.scores.results import ExperimentResults
from moot.stats.bootstrap import Floats, as_numbers
from moot.stats.differences import Sums
from moot.stats.precision import AGAIN, CASE, SIDE, Numbers, Precision, precision

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

DEBATE, WORDING, MODEL, JUDGE, PERSONA = "debate", "wording", "model", "judge", "persona"
VERDICTS = (JUDGE, PERSONA)
ResultsOf = Callable[[Contrast], Mapping[str, ExperimentResults]]
_MULTIPLES = (1, 1.5, 2, 3, 5, 8, 12, 20)
_DOUBLED = 2
NOTES = (
    (
        "Model: on each side an answer is a mean, an independent effect of each facet and of each"
        " combination of facets, and what is left; the variance of a difference is the sum of each"
        " side's components, each divided by how many levels its facets have there, less twice the"
        " covariances of both sides (a multivariate decision study: Brennan 2001, Generalizability"
        " Theory, chapters 9 to 11). Components below 0 count as 0. A facet of one level on a side"
        " stays as it is there."
    ),
    (
        "Number: as planned, of a case or of a debate; of the first and the second side where they"
        " differ. `without end`: the standard error that is left however many of this facet alone"
        " there are. `to reach`: the standard error with which `power: difference` is shown with"
        " the power asked for, or `power: standard_error`; `cheapest`: the numbers, the same on"
        " both sides, of the cheapest design that has it, up to 20 of each facet but cases, empty"
        " where the cases of the data set do not suffice."
    ),
    (
        "A facet is listed where the debates at hand tell its component apart; models stay as"
        " planned. Components that rest on few levels are rough: `levels` says how many a case had."
    ),
)
COLUMNS = (
    Columns()
    .keys("contrast", "metric", "components from")
    .plain("facet", "levels", "number")
    .plain("standard error", "doubled: standard error", "without end: standard error")
    .plain("US dollars", "doubled: US dollars", digits=",.2f")
    .plain("to reach")
    .counts("cheapest")
    .plain("cheapest: US dollars", digits=",.2f")
    .short_form(
        "contrast", "facet", "number", "standard error", "doubled: standard error", "doubled: US dollars", "cheapest",
        "cheapest: US dollars",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Designed:
    """A contrast with what its debates say of any design.

    Attributes:
        source: where the components come from.
        planned: of either side how many of each facet a case shall have, cases among them.
        debate, verdict: dollars of one debate of either side, and of one verdict on it; NaN where
            nothing says.
        available: cases of the data set.
        wanted: the standard error to reach.
        judged: whether answers are several judges' of one debate, so that asking again asks a
            judge; else it holds another debate.
    """

    contrast: Contrast
    source: str
    found: Precision
    planned: tuple[Numbers, Numbers]
    debate: tuple[float, float]
    verdict: tuple[float, float]
    available: int
    wanted: float
    judged: bool

    @property
    def is_priced(self) -> bool:
        """Whether prices are known."""
        return not np.isnan([self.debate, self.verdict]).any()

    def times(self, factor: float, facet: str) -> tuple[Numbers, Numbers]:
        """The planned design with so many times as many of a facet on both sides."""
        first, second = (
            {**numbers, facet: factor * numbers.get(facet, 1.0)} for numbers in self.planned
        )
        return first, second

    def cost_of_a_case(self, *chosen: Mapping[str, float | Floats]) -> Floats:
        """Dollars of a case on both sides, or on those of which designs are given; else how many
        answers it takes.
        """
        each = zip(self.planned, (chosen[0], chosen[-1]), self.debate, self.verdict, strict=True)
        return as_numbers(
            sum(self._cost({**known, **one}, *prices) for known, one, *prices in each)
        )

    def _cost(
        self, numbers: Mapping[str, float | Floats], debate: float, verdict: float
    ) -> float | Floats:
        held, verdicts = (
            prod(numbers.get(name, 1.0) for name in some) for some in ((WORDING, DEBATE), VERDICTS)
        )
        verdicts, held = (
            (verdicts * numbers[AGAIN], held) if self.judged else (verdicts, held * numbers[AGAIN])
        )
        return held * (debate + verdict * verdicts) if self.is_priced else held * verdicts

    def cost(self, *chosen: Numbers) -> float:
        """What a design costs, the same for both sides or one of either."""
        each = zip((chosen[0], chosen[-1]), self.planned, self.debate, self.verdict, strict=True)
        return float(
            sum(
                self._cost({**known, **one}, *prices) * {**known, **one}[CASE]
                for one, known, *prices in each
            )
        )


def designed(
    plan: Plan,
    contrast: Contrast,
    source: str,
    results_of: ResultsOf,
    design: float,
    cases: tuple[int, int],
    available: int,
) -> Designed | None:
    """What a contrast's debates say of any design; None where its metric is of no single answers,
    or none differ.

        Args:
            source, results_of: where the debates come from, and the results of both sides of a
                contrast.
            design: the design effect of clusters of cases.
            cases: how many either side plans.
            available: how many the data set has; of the side with fewer.
    """
    from scipy.special import ndtri  # registries are read at every start of Snakemake

    rows = _answers(plan, contrast, results_of)
    if rows is None:
        return None
    judged = _varies(rows, [JUDGE]) or _varies(rows, [PERSONA]) or _is_again(plan, contrast)
    names = [SIDE, CASE, *(name for name in (WORDING, MODEL, *VERDICTS) if _varies(rows, [name]))]
    names += [DEBATE] * (judged and _varies(rows, [DEBATE], [WORDING, MODEL, CASE]))
    per_case = [CASE, *([DEBATE] if DEBATE in names else [])]
    numbers, pools = _numbers(
        rows, [name for name in names if name not in (SIDE, *per_case)], per_case
    )
    found = precision(
        as_numbers(rows["value"]),
        {name: rows[name].tolist() for name in names},
        numbers,
        (MODEL,),
        design,
        pools,
    )
    if found is None:
        return None
    power, configs = (
        plan.config.power,
        [plan.experiments[side.experiment].config for side in contrast.sides],
    )
    wanted = power.standard_error or power.difference / float(
        ndtri(1 - power.level / 2) + ndtri(power.power)
    )
    held = DEBATE if judged else AGAIN
    first, second = (
        {**known, CASE: float(size)}
        | ({held: float(one.repeats)} if held in found.planned and one.protocol != RECORDED else {})
        for known, size, one in zip(numbers, cases, configs, strict=True)
    )
    debate, verdict = _prices(plan, contrast, rows)
    return Designed(
        contrast, source, found, (first, second), debate, verdict, available, wanted, judged
    )


def _numbers(
    rows: pd.DataFrame, crossed: list[str], per_case: list[str]
) -> tuple[tuple[Numbers, Numbers], Numbers]:
    """Of either side how many levels of each facet a case has; and how many there are in all for
    each of these.
    """
    sides, pools = list[Numbers](), dict[str, float]()
    for _, mine in rows.groupby(SIDE):
        cases = mine.groupby(CASE, sort=False)
        numbers = {CASE: float(cases.ngroups)} | {
            name: float(cases[name].nunique().mean()) for name in crossed
        }
        if DEBATE in per_case:
            within = [name for name in (WORDING, MODEL) if name in crossed]
            numbers[DEBATE] = float(
                mine.groupby([*within, CASE], sort=False)[DEBATE].nunique().mean()
            )
        sides.append({**numbers, AGAIN: len(mine) / prod(numbers.values())})
        for name in crossed:
            pools[name] = max(pools.get(name, 1.0), mine[name].nunique() / numbers[name])
    return (sides[0], sides[1]), pools


def _answers(plan: Plan, contrast: Contrast, results_of: ResultsOf) -> pd.DataFrame | None:
    """The answers of both sides: what each adds to its side's metric, and whose answer it is;
    None where none are.
    """
    parts: tuple[list[pd.DataFrame], list[pd.DataFrame]] = [], []
    sums: tuple[list[Sums], list[Sums]] = [], []
    for wording, told in _wordings(plan, contrast).items():
        found = results_of(told)
        for number, (side, debates) in enumerate(
            zip(told.sides, sides_of(told, found) if found else (), strict=False)
        ):
            if debates.terms.rows is None:
                return None
            parts[number].append(
                _named(plan, side, number, debates.terms.rows.assign(**{WORDING: wording}))
            )
            sums[number].append(debates.sums)
    if not all(parts):
        return None
    sides = []
    for rows, of in zip(parts, sums, strict=True):
        whole = Sums(np.vstack([one.tops for one in of]), np.vstack([one.bottoms for one in of]))
        sides.append(pd.concat(rows).assign(value=whole.influences()))
    both = pd.concat(sides, ignore_index=True)
    if not contrast.paired:
        both[CASE] = both[SIDE].astype(str) + " " + both[CASE]
    return both


def _named(plan: Plan, side: Side, number: int, rows: pd.DataFrame) -> pd.DataFrame:
    """Answers with their facets; a debate has a name of its own, the same where both sides judge
    it.
    """
    params, again = plan.experiments[side.experiment].config.params, _judges_again(plan, side)
    held = (params["beside"], params["debated_by"]) if again else (number,)
    keys = ["case_id", "repeat", *([] if again else ["model", WORDING])]
    debates = [repr((*held, *key)) for key in rows[keys].itertuples(index=False, name=None)]
    judges = {name: rows[name].fillna("") if name in rows else "" for name in VERDICTS}
    of = {MODEL: "", JUDGE: rows["model"]} if again else {MODEL: rows["model"]}
    return pd.DataFrame(
        {SIDE: number, CASE: rows["case_id"], WORDING: rows[WORDING], DEBATE: debates, "usd": rows["cost_usd"]}
        | judges | of
    )  # fmt: skip


def _wordings(plan: Plan, contrast: Contrast) -> dict[str, Contrast]:
    """The contrast in each wording (`prompts`) that experiments like those of both sides were run
    in.
    """
    alike = [_alike(plan, side.experiment) for side in contrast.sides]
    own = [plan.experiments[side.experiment].config.prompts for side in contrast.sides]
    if own[0] != own[1]:  # the wording is what they differ in
        return {"": contrast}
    return {
        wording: replace(
            contrast,
            first=replace(contrast.first, experiment=alike[0][wording]),
            second=replace(contrast.second, experiment=alike[1][wording]),
        )
        for wording in alike[0]
        if wording in alike[1]
    }


def _alike(plan: Plan, name: str) -> dict[str, str]:
    """By wording: an experiment, and those that differ from it in `prompts` alone."""
    config = plan.experiments[name].config
    found = {config.prompts: name}
    for other, experiment in plan.experiments.items():
        if experiment.config.model_copy(update={"prompts": config.prompts}) == config:
            found.setdefault(experiment.config.prompts, other)
    return found


def _judges_again(plan: Plan, side: Side) -> bool:
    return {"beside", "debated_by"} <= set(plan.experiments[side.experiment].config.params)


def _is_again(plan: Plan, contrast: Contrast) -> bool:
    return all(_judges_again(plan, side) for side in contrast.sides)


def _varies(rows: pd.DataFrame, names: list[str], within: Sequence[str] = ()) -> bool:
    return bool((rows.groupby([SIDE, *within])[names].nunique() > 1).to_numpy().any())


def _prices(
    plan: Plan, contrast: Contrast, rows: pd.DataFrame
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Dollars of one debate of either side, and of one verdict; NaN where records do not say."""
    held = all(
        plan.experiments[side.experiment].config.protocol != RECORDED for side in contrast.sides
    )
    costs = rows.groupby([SIDE, MODEL])["usd"].mean().groupby(SIDE).sum()
    answers, unknown = (
        ((float(costs[0]), float(costs[1])) if held else (float("nan"),) * 2),
        (0.0 if held else float("nan"),) * 2,
    )
    found = ((0.0, 0.0), answers) if _is_again(plan, contrast) else (answers, unknown)
    given = plan.config.power.usd_debate, plan.config.power.usd_verdict
    debate, verdict = (
        prices if own is None else (own / 2, own / 2)
        for own, prices in zip(given, found, strict=True)
    )
    return debate, verdict


# What people read


def _rows(one: Designed) -> Iterator[Row]:
    best = one.found.cheapest(one.wanted, one.cost_of_a_case, one.available)
    for facet in one.found.planned:
        doubled = one.times(_DOUBLED, facet)
        yield {
            "contrast": (one.contrast.name, one.contrast.first.metric, one.source),
            "facet": _plural(one, facet),
            "levels": _either(one.found.numbers, facet),
            "number": _either(one.planned, facet),
            "standard error": float(one.found.error(*one.planned)),
            "doubled: standard error": float(one.found.error(*doubled)),
            "without end: standard error": float(one.found.error(*one.times(float("inf"), facet))),
            "US dollars": one.cost(*one.planned) if one.is_priced else None,
            "doubled: US dollars": one.cost(*doubled) if one.is_priced else None,
            "to reach": one.wanted,
            "cheapest": round(best.numbers[facet]) if best else None,
            "cheapest: US dollars": best.cost if best and one.is_priced else None,
        }


def _either(sides: tuple[Numbers, Numbers], facet: str) -> str:
    """A number, or those of either side where they differ."""
    return "/".join(dict.fromkeys(f"{numbers.get(facet, 1.0):,.3g}" for numbers in sides))


def designs_table(found: Sequence[Designed]) -> TableContent:
    """One row a contrast and facet: the standard error as planned, with twice as many, and in the
    cheapest design.
    """
    return COLUMNS.table([row for one in found for row in _rows(one)], NOTES)


def designs_figure(found: Sequence[Designed]) -> "MatplotlibFigure":
    """Standard error against dollars, from the planned design on, a line a facet; a panel a
    contrast.
    """
    figure, used, _ = panels(len(found), 2, 2.6)
    costs = [one.cost(*one.planned) for one in found]
    for one, axis in zip(found, used, strict=False):
        for place, facet in enumerate(one.found.planned):
            some = [one.times(factor, facet) for factor in _MULTIPLES]
            errors = [float(one.found.error(*numbers)) for numbers in some]
            axis.plot(
                [one.cost(*numbers) for numbers in some],
                errors,
                label=_plural(one, facet),
                **series_style(place),
            )
        axis.axhline(one.wanted, color="grey", linewidth=0.8, linestyle=":")
        logarithmic(
            axis, min(costs) / 1.2, max(costs) * _MULTIPLES[-1] * 1.2
        )  # panels share their axes
        axis.set(title=one.contrast.name, ylabel="standard error", ylim=(0, None))
        axis.set_xlabel("US dollars" if one.is_priced else "answers of either side")
        axis.legend()
    return figure


def design_lines(found: Sequence[Designed]) -> Iterator[str]:
    """Two lines a contrast: what twice as many of each facet does, and the cheapest design."""
    for one in found:
        rows = list(_rows(one))
        first = rows[0]
        doubled = ", twice the ".join(
            f"{row['facet']}"
            f" {row['doubled: standard error']:.3f}{_dollars(row['doubled: US dollars'])}"
            for row in rows
        )
        yield (
            f"{one.contrast.name} ({one.contrast.first.metric}, components by {one.source}):"
            f" standard error {first['standard error']:.3f} as"
            f" planned{_dollars(first['US dollars'])}; with twice the {doubled}."
        )
        if first["cheapest"] is None:
            yield (
                f"  No design within the {one.available} cases of the data set has one of"
                f" {one.wanted:.3f}."
            )
        else:
            numbers = ", ".join(f"{row['cheapest']} {row['facet']}" for row in rows)
            yield (
                f"  One of {one.wanted:.3f} takes"
                f" {numbers}{_dollars(first['cheapest: US dollars'])}."
            )


def _plural(one: Designed, facet: str) -> str:
    return {
        AGAIN: "answers of a judge" if one.judged else "debates of a case",
        DEBATE: "debates of a case",
    }.get(facet, f"{facet}s")


def _dollars(cost: float | None) -> str:
    return "" if cost is None else f" for ${cost:,.2f}"
