"""Each case, judge and model, with an estimate that borrows from the others as far as its own
answers are few.
"""

from collections.abc import Iterator

from moot.report import EVERYWHERE, table
from moot.report.columns import Columns, Row
from moot.report.content import StudyResults, TableContent
from moot.stats.bootstrap import Floats, as_numbers
from moot.stats.components import decompose
from moot.stats.pooling import FEWEST_LEVELS, partially_pooled
from moot.studies.across.tables_variance import (
    DEBATE,
    JUDGED_BY,
    MODEL,
    RIGHT,
    TOO_FEW,
    VERDICT,
    Answers,
    answers_of,
    plural,
)

MOST_LEVELS = 24
TOO_FEW_LEVELS = f"fewer than {FEWEST_LEVELS}: too few to say how far they lie apart"
COLUMNS = (
    Columns()
    .keys("data", "answers of", "share of")
    .plain("by", "level")
    .counts("answers")
    .ours("raw share", digits=".3f")
    .estimate("pooled share", "pooled")
    .ours("borrowed from the others", digits=".2f")
    .plain("left out")
    .short_form(
        "data", "answers of", "share of", "by", "level", "answers", "raw share", "pooled share",
        "pooled, 95 % interval", "borrowed from the others",
    )
)  # fmt: skip


@table(
    EVERYWHERE,
    "partial_pooling",
    "What each case, judge and model comes to, when it borrows from the others",
)
def partial_pooling(results: StudyResults) -> TableContent:
    """Shares of right answers by case, judge, persona and model (of one verdict by case, if there
    are two verdicts).
    """
    rows = [row for found in results.experiments.values() for row in _rows(answers_of(found))]
    return COLUMNS.table(
        rows,
        [
            (
                "Model: the true shares of all levels have a beta distribution; a level's own"
                " answers count as so many independent ones as the components of variance say"
                " (Gelman et al. 2013, section 5.3; Searle, Casella and McCulloch 1992, chapter 7;"
                " Williams 1982). It adjusts for the other facets, and speaks of the cases that"
                " were seen. `borrowed from the others` is the weight of the mean of all levels, 1"
                " less that of the level's own answers. docs/results.md has the intervals'"
                " coverage."
            ),
            (
                "Few answers lie far from the others by chance alone: compare the pooled shares,"
                " not the raw ones."
            ),
            f"A facet of more than {MOST_LEVELS} levels is not listed, its variance counts.",
        ],
    )


def _rows(answers: Answers) -> Iterator[Row]:
    outcomes = {name: (values, kept) for name, values, kept in answers.outcomes}
    given = outcomes[VERDICT][1]
    words = sorted(given.rows["prediction"].unique())
    for facet, levels in answers.facets.items():
        if facet == DEBATE or not 1 < len(set(levels)) <= MOST_LEVELS:
            continue
        of_answerers = facet in (*JUDGED_BY, MODEL)
        if RIGHT in outcomes and (
            of_answerers or len(words) != 2
        ):  # a verdict of more words has no one share
            yield from _by(facet, RIGHT, *outcomes[RIGHT])
        elif len(words) == 2:
            word = answers.positive or words[-1]
            yield from _by(
                facet, f"verdict {word}", as_numbers(given.rows["prediction"] == word), given
            )


def _by(facet: str, what: str, shares: Floats, kept: Answers) -> Iterator[Row]:
    facets = {name: levels for name, levels in kept.facets.items() if len(set(levels)) > 1}
    keys: Row = {"data": (kept.data, kept.name, what), "by": facet}
    number = len(set(kept.facets[facet]))
    found = decompose(shares, facets, intervals=False)
    if found is None or number < FEWEST_LEVELS:
        reason = TOO_FEW if found is None else TOO_FEW_LEVELS
        yield keys | {
            "level": f"{number} {plural(facet)}",
            "answers": len(shares),
            "left out": reason,
        }
        return
    for one in sorted(partially_pooled(shares, facets, facet, found), key=lambda one: -one.value):
        yield keys | {
            "level": str(one.level),
            "answers": one.answers,
            "raw share": one.raw,
            "pooled share": (one.value, one.low, one.high),
            "borrowed from the others": one.borrowed,
        }
