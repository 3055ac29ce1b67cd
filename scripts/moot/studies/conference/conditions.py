"""What the tables and figures of the conference study share: its conditions, and their debates side
by side.

Source of published values: Heller et al., "Finding Common Ground", Table 5 and section 5.2.2.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from moot.core.types import Column, Fields
from moot.report import content
from moot.report.content import StudyResults
from moot.stats.bootstrap import ClusterBootstrap, estimate_interval, mean_statistic
from moot.studies.conference.scores_conference import with_topics

STUDY = "conference"
CONFERENCE, PAIRS, GRADING = "conference", "agreement", "grading"
WITH, WITHOUT = "with judge", "without judge"


@dataclass(frozen=True)
class Condition(content.Run):
    """One model's conferences in one experiment, with or without a judge."""

    @property
    def judged(self) -> bool:
        """Whether a judge of agreement took part."""
        return bool(self.params["agreement"])

    @property
    def name(self) -> str:
        """With or without judge, in words."""
        return WITH if self.judged else WITHOUT

    @property
    def names(self) -> tuple[str, str]:
        """Model and condition: the first keys of its rows."""
        return self.model, self.name

    @property
    def said(self) -> pd.DataFrame:
        """Its transcripts, with the number of the topic."""
        said = with_topics(self.results.transcripts)
        return said[said["model"] == self.model]


def list_conditions(results: StudyResults) -> list[Condition]:
    """All conditions, those with judge first."""
    return sorted(
        results.runs(results.where(CONFERENCE), Condition),
        key=lambda condition: not condition.judged,
    )


def pair_conditions(results: StudyResults) -> list[tuple[Condition, Condition]]:
    """Conditions with and without judge that differ in nothing else: same model, data and other
    parameters.
    """
    found = list_conditions(results)
    pairs = product((one for one in found if one.judged), (one for one in found if not one.judged))
    return [(judged, alone) for judged, alone in pairs if _setting(judged) == _setting(alone)]


def _setting(condition: Condition) -> tuple[str, str, Fields]:
    params = {key: value for key, value in condition.params.items() if key != "agreement"}
    return condition.model, condition.results.config.dataset, params


def difference_of_means(first: Column, second: Column, seed: int) -> tuple[float, float, float]:
    """The difference of two independent samples' means, one value a debate, with an interval over
    debates.
    """
    one, other = ClusterBootstrap(first.index, seed), ClusterBootstrap(second.index, seed + 1)
    left, right = (
        mean_statistic(first.to_numpy(dtype=np.float64)),
        mean_statistic(second.to_numpy(dtype=np.float64)),
    )
    value = one.value(left) - other.value(right)
    return value, *estimate_interval(
        value, one.draws(left) - other.draws(right), min(one.clusters, other.clusters)
    )
