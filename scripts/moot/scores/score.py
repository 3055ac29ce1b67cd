"""A score with its interval, and the sample of rows that it is computed from."""

from collections.abc import Sequence
from dataclasses import dataclass

from moot.core.cases import Cluster
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import Statistic

OVERALL = "overall"


@dataclass(frozen=True, slots=True)
class Score:
    """A metric's value with its 95 % interval; NaN without an interval.

    Attributes:
        metric: the metric's name, which includes its unit (`seconds_per_case`).
        average: binary, macro, micro, weighted, or "" for a metric without averages.
        group: the part of the rows that the score covers, by the conventions of `moot.scores`.
        n: the number of rows behind the value.
        n_invalid: rows of the group without a usable answer.
        n_cases: cases that the n rows belong to.
    """

    metric: str
    value: float
    ci_low: float = float("nan")
    ci_high: float = float("nan")
    average: str = ""
    group: str = OVERALL
    n: int = 0
    n_invalid: int = 0
    n_cases: int = 0


class Sample:
    """Some rows, each belonging to a case, with the jackknife over the cases' clusters.

    Args:
        case_ids, clusters: of each row.
    """

    def __init__(self, case_ids: Sequence[str], clusters: Sequence[Cluster]) -> None:
        self.n, self.n_cases = len(case_ids), len(set(case_ids))
        self.jackknife = ClusterJackknife(clusters)

    def score(
        self,
        metric: str,
        statistic: Statistic,
        group: str = OVERALL,
        average: str = "",
        n_invalid: int = 0,
    ) -> Score:
        """Return a statistic of these rows with its interval, as a score."""
        estimate = self.jackknife.estimate(statistic)
        return Score(metric, *estimate, average, group, self.n, n_invalid, self.n_cases)

    def count(
        self, metric: str, value: float, group: str = OVERALL, average: str = "", n_invalid: int = 0
    ) -> Score:
        """Return a number of these rows without an interval, as a score."""
        return Score(
            metric,
            value,
            average=average,
            group=group,
            n=self.n,
            n_invalid=n_invalid,
            n_cases=self.n_cases,
        )
