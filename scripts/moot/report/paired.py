"""What tables of paired comparisons share: their note, and the cells of one comparison."""

from moot.core.types import Fields
from moot.stats.paired import Comparison

PAIRED_NOTE = (
    "A case counts by the share of its repeats that are right, an invalid answer as wrong; the difference is the mean "
    "over common cases. Interval and p are by cluster: p is two-sided, of a randomisation test that flips the signs of "
    "the clusters' differences, which is McNemar's exact test where each case is its own cluster and was argued once."
)


def paired_cells(comparison: Comparison) -> Fields:
    """A comparison under the headings that every paired table has."""
    return {
        "difference": (comparison.difference, comparison.low, comparison.high),
        "first better": (comparison.first_better, comparison.second_better),
        "cases": (comparison.cases, comparison.clusters),
        "p": comparison.p,
    }
