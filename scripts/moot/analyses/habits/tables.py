"""The table of judges' habits, from whatever analyses find of them."""

from collections.abc import Iterator
from itertools import chain

from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import Row
from moot.report.content import TableContent
from moot.report.habits import HABITS, habits_table
from moot.report.needs import StudyPlan
from moot.report.study_results import StudyResults


def has_habits(plan: StudyPlan) -> bool:
    """Return whether the run has debates from which an analysis reads habits."""
    return any(HABITS[name].is_met(plan) for name in HABITS)


@table(
    EVERY_STUDY_AND_COMPARISON, "habits", "What sways a judge, case for case", needs=(has_habits,)
)
def habits(results: StudyResults) -> TableContent:
    """How much more often a judge's verdict follows order, length, authority, its own commitment,
    insistence or a named group than in the same debate without this feature, by judge.
    """
    sources = [HABITS[name] for name in HABITS]
    notes = chain.from_iterable(source.notes for source in sources)
    return habits_table(_rows(results), *notes)


def _rows(results: StudyResults) -> Iterator[Row]:
    for name in HABITS:
        yield from HABITS[name].rows(results)
