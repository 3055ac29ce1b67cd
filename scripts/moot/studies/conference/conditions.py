"""Conditions of the conference study (with and without a judge) and their comparison.

The published values come from Heller et al., "Finding Common Ground", Table 5 and section 5.2.2.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from moot.core.types import Column, Fields
from moot.report import study_results
from moot.report.study_results import StudyResults
from moot.stats.differences import Sums, compare_unpaired
from moot.stats.statistic import ANY
from moot.studies.conference.scores_conference import number_topics
from moot.studies.conference.speakers import participant_seat

STUDY = "conference"
CONFERENCE_PROTOCOL, AGREEMENT_PROTOCOL, GRADING_PROTOCOL = "conference", "agreement", "grading"
JUDGING_PROTOCOL = "judging"
WITH_JUDGE, WITHOUT_JUDGE = "with judge", "without judge"


@dataclass(frozen=True)
class Condition(study_results.Run):
    """One model's conferences in one experiment, with or without a judge."""

    @property
    def has_judge(self) -> bool:
        """Whether a judge of agreement took part."""
        return bool(self.params["agreement"])

    @property
    def name(self) -> str:
        """The name of the condition."""
        return WITH_JUDGE if self.has_judge else WITHOUT_JUDGE

    @property
    def transcripts(self) -> pd.DataFrame:
        """Its transcripts, with the number of the topic."""
        transcripts = number_topics(self.results.transcripts)
        return transcripts[transcripts["model"] == self.model]


def list_conditions(results: StudyResults) -> list[Condition]:
    """Return all conditions, those with judge first."""
    return sorted(
        results.runs(results.find_experiments(CONFERENCE_PROTOCOL), Condition),
        key=lambda condition: not condition.has_judge,
    )


def list_graded_runs(results: StudyResults) -> list[study_results.Run]:
    """Return all runs with a judge whose decisions can be graded.

    Judges of the same exchanges come first, then conferences in which the judge's model takes every
    seat.
    """
    judges = results.runs(results.find_experiments(JUDGING_PROTOCOL), study_results.Run)
    conferences = [condition for condition in list_conditions(results) if condition.has_judge]
    return [*judges, *conferences]


def name_participants(run: study_results.Run) -> str:
    """Return the models that take part in the exchanges which a run's judge decides on."""
    if run.results.config.protocol == JUDGING_PROTOCOL:
        return str(run.params["source_model"])
    seats = run.params.get("seats", {})
    names = [seats.get(seat, run.model) for seat in _participant_seats(run.params)]
    return ", ".join(dict.fromkeys(names))


def _participant_seats(params: Fields) -> list[str]:
    return [participant_seat(number) for number in range(1, int(params["participants"]) + 1)]


def pair_conditions(results: StudyResults) -> list[tuple[Condition, Condition]]:
    """List pairs of conditions, with and without a judge, that differ in nothing else."""
    conditions = list_conditions(results)
    pairs = product(
        (condition for condition in conditions if condition.has_judge),
        (condition for condition in conditions if not condition.has_judge),
    )
    return [
        (with_judge, without_judge)
        for with_judge, without_judge in pairs
        if _comparison_key(with_judge) == _comparison_key(without_judge)
    ]


def _comparison_key(condition: Condition) -> tuple[str, str, Fields]:
    params = {key: value for key, value in condition.params.items() if key != "agreement"}
    return condition.model, condition.results.config.dataset, params


def estimate_difference(first: Column, second: Column, seed: int) -> tuple[float, float, float]:
    """Estimate the difference of the means of two independent samples, with an interval.

    Each sample has one value per debate; the interval is over debates, as of
    `moot.stats.differences.compare_unpaired`.
    """
    sides = []
    for values in (first, second):
        column = values.to_numpy(dtype=np.float64)[:, None]
        sides.append(Sums(column, np.ones_like(column)))
    clusters = range(len(first)), range(len(first), len(first) + len(second))
    difference = compare_unpaired(sides[0], sides[1], *clusters, seed, ANY)
    return difference.difference, difference.low, difference.high
