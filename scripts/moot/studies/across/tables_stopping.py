"""Where the debates of planned comparisons ended, why, what that spared, and what a fixed plan
would have taken.
"""

from collections.abc import Iterator
from math import ceil, isfinite

from moot.report import EVERYWHERE, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import STOPPING, StudyResults, TableContent
from moot.scores.answers import repeats_of
from moot.scores.contrasts import measure, sides_of, spread
from moot.scores.stopping import stopping
from moot.stats.power import Goal, cases_needed

COLUMNS = (
    Columns()
    .keys("study")
    .plain("contrast", "metric", "difference that matters")
    .estimate("difference", "difference", "95 % interval", DIFFERENCE, SIGNED)
    .plain("p", "stopped because")
    .counts("looks", "planned looks", "cases", "planned cases", "calls", "calls not made")
    .plain("US dollars", "US dollars not spent", digits=",.2f")
    .counts("cases, fixed, for what matters", "cases, fixed, for what was found")
    .short_form(
        "study", "contrast", "difference", "95 % interval", "stopped because", "cases", "planned cases",
        "calls not made", "US dollars not spent", "cases, fixed, for what matters"
    )
)  # fmt: skip


@table(EVERYWHERE, "stopping", "Where planned comparisons stopped", rests_on=(STOPPING,))
def stopped(results: StudyResults) -> TableContent:
    """The comparisons whose debates could end early (`stop`): where they did, why, and what was not
    spent.
    """
    return COLUMNS.table(
        _rows(results),
        [
            (
                "Interval and p are valid at any time at which debates may end (a betting"
                " confidence sequence by cluster, Waudby-Smith and Ramdas 2024), whatever the"
                " reason was."
            ),
            (
                "Stopped because: `difference shown`: p below `alpha`; `smaller than matters`: the"
                " interval of level `alpha` lies within the difference that matters on either side"
                " of 0; `futile`: twice the whole plan would have shown neither, had it come out as"
                " what was seen; `budget`: the next look would have taken more than `usd`; `all"
                " cases debated`: nothing was decided; `open`: further looks are to be held."
            ),
            (
                "Not made, not spent: what the planned cases that were not debated would have"
                " taken, each as much as those that were."
            ),
            (
                "Cases, fixed: how many cases a plan without looks takes to show the difference"
                " that matters, or the one found, with 80 % power at the level `alpha` and as many"
                " repeats, by the variances of these debates."
            ),
            (
                "What other tables say of these experiments rests on as many debates as a"
                " comparison needed. Their intervals take that number as fixed."
            ),
        ],
    )


def _rows(results: StudyResults) -> Iterator[Row]:
    for contrast in results.contrasts:
        stop = contrast.stop
        there = all(side.experiment in results.tested for side in contrast.sides)
        if (
            contrast.missing
            or not stop
            or not there
            or not (found := measure(contrast, results.tested))
        ):
            continue
        at = stopping(contrast, stop, results.tested)
        variation = spread(contrast, results.tested, found.difference)
        repeats, goal = repeats_of(sides_of(contrast, results.tested)), Goal(stop.alpha)
        fixed = [
            cases_needed(one, variation, repeats, goal)
            for one in (stop.difference, found.difference)
        ]
        rest = (at.planned - at.cases) / at.cases
        metric = " against ".join(dict.fromkeys(side.metric for side in contrast.sides))
        yield {
            "study": (contrast.family, contrast.name, metric, stop.difference),
            "difference": (found.difference, found.low, found.high, found.p, at.reason),
            "looks": (
                at.looks,
                at.planned_looks,
                at.cases,
                at.planned,
                at.calls,
                _whole(at.calls * rest),
            ),
            "US dollars": (at.usd, at.usd * rest),
            "cases, fixed, for what matters": tuple(map(_whole, fixed)),
        }


def _whole(number: float) -> int | None:
    return ceil(number) if isfinite(number) else None
