"""Notes and cells shared by the tables of paired comparisons."""

from collections.abc import Iterable
from dataclasses import replace

from moot.core.types import Fields
from moot.report.columns import Row
from moot.report.study_results import KEY_SEPARATOR, Run
from moot.stats import differences
from moot.stats.asked_twice import NO_FLOOR, changes, differ
from moot.stats.paired import Comparison, holm

PAIRED_NOTE = (
    "A case counts by the share of its repeats that are right; an invalid answer counts as "
    f"wrong. The difference is the mean over common cases. {differences.PAIRED_NOTE}"
)
SAME_NOTE = (
    "Same answer: the share of equal pairs of valid answers, averaged over cases. A pair has one "
    "answer of each side, from different repeats (or from the only one). Recorded answers are "
    "paired by judge and persona, or only by case if the sides have no judge in common. A model "
    "that samples gives varying answers: `same if asked twice` is this share among repeats of "
    f"the same side, over the cases that have repeats. Without repeats: {NO_FLOOR}."
)


def paired_cells(comparison: Comparison) -> Fields:
    """Return a comparison's cells under the headings that every paired table has."""
    return {
        "difference": (comparison.difference, comparison.low, comparison.high),
        "first better": comparison.first_better,
        "second better": comparison.second_better,
        "cases": comparison.cases,
        "clusters": comparison.clusters,
        "p": comparison.p,
    }


def add_holm_correction(rows: Iterable[Row]) -> list[Row]:
    """Add Holm's correction over the tests of each family, and the number of tests.

    Each row needs the keys `p` and `family`; it gets `p (Holm)` and `tests in family`.
    """
    listed = list(rows)
    families: dict[str, list[Row]] = {}
    for row in listed:
        families.setdefault(row["family"], []).append(row)
    for family in families.values():
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row |= {"p (Holm)": p, "tests in family": len(family)}
    return listed


def same_answers(first: Run, second: Run, excess_column: str) -> Fields:
    """Return how often two runs give the same answer, beyond what either does when asked twice.

    The cell `excess_column` holds the change between the runs minus the change between repeats,
    with its interval. If the runs have no judge or persona in common, answers are matched by case.
    """
    first_answers, second_answers = first.answers, second.answers
    # other judges, or unnamed
    has_no_common_keys = (
        first_answers.index.get_level_values(0)
        .intersection(second_answers.index.get_level_values(0))
        .empty
    )
    if has_no_common_keys:
        first_answers, second_answers = (
            answers.rename(lambda key: key.split(KEY_SEPARATOR)[0], level=0)
            for answers in (first_answers, second_answers)
        )
    clusters = {
        key: first.results.clusters[key.split(KEY_SEPARATOR)[0]]
        for key in first_answers.index.get_level_values(0)
    }
    change = changes(
        first_answers,
        second_answers,
        differ,
        clusters,
        default_change=0.0 if has_no_common_keys else float("nan"),
    )
    if has_no_common_keys:
        change = replace(
            change,
            between_repeats=float("nan"),
            excess=float("nan"),
            low=float("nan"),
            high=float("nan"),
        )
    return {
        "same answer": 1 - change.changed,
        "same if asked twice": 1 - change.between_repeats,
        excess_column: (change.excess, change.low, change.high),
    }
