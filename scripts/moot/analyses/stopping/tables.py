"""The table `stopping`: where planned comparisons ended, why, and what was saved.

It also gives the number of cases that a fixed plan would have needed.
"""

from collections.abc import Iterator
from math import ceil, isfinite

from moot.analyses.stopping.interim import SequentialTest, measure_progress
from moot.core.errors import CannotTellError
from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import TableContent
from moot.report.needs import StudyPlan
from moot.report.study_results import StudyResults
from moot.scores.contrasts import Contrast, measure, measure_spread, sides_of
from moot.scores.inference_scope import repeats_of
from moot.stats.power import Goal, cases_needed

COLUMNS = (
    Columns()
    .keys("study")
    .plain("contrast", "metric", "difference that matters")
    .estimate("difference", "difference", "95 % interval", DIFFERENCE, SIGNED)
    .plain("p", "stopped because")
    .counts("stages", "planned stages", "cases", "planned cases", "calls", "calls not made")
    .plain("US dollars", "US dollars not spent", digits=",.2f")
    .counts("cases, fixed, for what matters", "cases, fixed, for what was found")
    .short_form(
        "study",
        "contrast",
        "difference",
        "95 % interval",
        "stopped because",
        "cases",
        "planned cases",
        "calls not made",
        "US dollars not spent",
        "cases, fixed, for what matters",
    )
)


NOTES = (
    (
        "Interval and p are valid at any time at which debates may end (a betting confidence"
        " sequence by cluster, Waudby-Smith and Ramdas 2024), whatever the reason was."
    ),
    (
        "Stopped because: `difference shown`: p below `alpha`; `smaller than matters`: the interval"
        " of level `alpha` lies within the difference that matters on either side of 0; `futile`:"
        " twice the whole plan would have shown neither, had it come out like the cases so far;"
        " `budget`: the next stage would have taken more than `usd`; `all cases debated`: nothing"
        " was decided; `open`: further stages are to be held."
    ),
    (
        "Not made, not spent: the estimated calls and dollars of the planned cases that were not "
        "debated, at the mean of the debated ones."
    ),
    (
        "Cases, fixed: the number of cases that a plan without interim analyses needs to show "
        "the difference that matters, or the observed one, with 80 % power at the level `alpha` "
        "and the same number of repeats, from the variances of these debates."
    ),
    (
        "Other tables show these experiments with the number of debates that a comparison "
        "needed. Their intervals treat that number as fixed."
    ),
)


def can_stop_early(plan: StudyPlan) -> bool:
    """Return whether the debates of a planned comparison may end early."""
    return any(isinstance(contrast.test, SequentialTest) for contrast in plan.contrasts)


@table(
    EVERY_STUDY_AND_COMPARISON,
    "stopping",
    "Where planned comparisons stopped",
    needs=(can_stop_early,),
)
def stopping_table(results: StudyResults) -> TableContent:
    """Contrasts whose debates can end early (`stop`): when and why they ended, and the savings."""
    return COLUMNS.table(_rows(results), list(NOTES))


def _rows(results: StudyResults) -> Iterator[Row]:
    for contrast in results.contrasts:
        test = contrast.test
        if contrast.missing or not isinstance(test, SequentialTest):
            continue
        if all(side.experiment in results.experiments_and_controls for side in contrast.sides):
            yield from _row(results, contrast, test)


def _row(results: StudyResults, contrast: Contrast, test: SequentialTest) -> Iterator[Row]:
    """Yield the row of a contrast; nothing if its sides share no debated case."""
    try:
        difference = measure(contrast, results.experiments_and_controls)
    except CannotTellError:  # the table of contrasts says why
        return
    if difference is None:
        return
    progress = measure_progress(contrast, test, results.experiments_and_controls)
    variation = measure_spread(contrast, results.experiments_and_controls, difference.difference)
    repeats, goal = (
        repeats_of(sides_of(contrast, results.experiments_and_controls)),
        Goal(test.alpha),
    )
    fixed_for_what_matters = cases_needed(test.difference, variation, repeats, goal)
    fixed_for_estimate = cases_needed(difference.difference, variation, repeats, goal)
    unspent_share = (progress.planned_cases - progress.cases) / progress.cases
    metric = " against ".join(dict.fromkeys(side.metric for side in contrast.sides))
    yield {
        "study": (contrast.family, contrast.name, metric, test.difference),
        "difference": (
            difference.difference,
            difference.low,
            difference.high,
            difference.p,
            progress.reason,
        ),
        "stages": (
            progress.stages,
            progress.planned_stages,
            progress.cases,
            progress.planned_cases,
            progress.calls,
            _round_up(progress.calls * unspent_share),
        ),
        "US dollars": (progress.usd, progress.usd * unspent_share),
        "cases, fixed, for what matters": (
            _round_up(fixed_for_what_matters),
            _round_up(fixed_for_estimate),
        ),
    }


def _round_up(number: float) -> int | None:
    return ceil(number) if isfinite(number) else None
