"""Interim analyses of contrasts whose debates may end early: test and progress.

The same functions decide before each stage and fill the table `stopping`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from moot.analyses.stopping.sequential import OPEN, PairedDifferences
from moot.core.cases import (
    Case,
    Cluster,
    Task,
    choose_cases,
    cluster_attributes,
    cluster_name,
    open_cases,
    stable_fraction,
)
from moot.core.errors import UserError
from moot.scores.contrasts import Contrast, ContrastTest, matching_cases, sides_of
from moot.scores.results import ExperimentResults
from moot.stats.differences import Difference, sums_by
from moot.stats.statistic import DIFFERENCE

BUDGET, ALL_DEBATED = "budget", "all cases debated"
NOTE = (
    "If debates may end early (`stop`), the interval and both p are from a betting confidence "
    "sequence, which is valid whenever the debates end. `alpha` is the level of one contrast, "
    "before Holm's correction."
)


@dataclass(frozen=True)
class SequentialTest(ContrastTest):
    """A test that is valid at any number of interim analyses.

    Attributes:
        cases_per_stage, difference, alpha, futility, usd: see
            `moot.analyses.stopping.config.StopConfig`.
        planned_cases: of the experiment on each side.
    """

    cases_per_stage: int
    difference: float
    alpha: float
    futility: bool
    usd: float | None
    planned_cases: int

    @property
    def margin(self) -> float:
        """The smallest difference that matters."""
        return self.difference

    @property
    def margin_key(self) -> str:
        """The configuration key of the margin, for messages."""
        return "stop: difference"

    @property
    def note(self) -> str:
        """A sentence on the test for readers of the table of contrasts."""
        return NOTE

    def measure(
        self, contrast: Contrast, experiments: Mapping[str, ExperimentResults]
    ) -> Difference:
        """Return the difference, with an interval and p values that are valid at any time."""
        (case_ids, first), (_, second) = (
            debates.by_case for debates in sides_of(contrast, experiments)
        )
        differences = paired_differences(contrast, self, experiments)
        low, high = differences.interval()
        first_value, second_value = first.total(), second.total()
        return Difference(
            first_value,
            second_value,
            first_value - second_value,
            low,
            high,
            differences.p(),
            len(case_ids),
            len(differences.sums),
            differences.equivalence(self.difference),
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of the debates of a contrast.

    Attributes:
        reason: the reason to stop after these stages: a verdict of
            `moot.analyses.stopping.sequential`, `BUDGET` or `ALL_DEBATED`; `OPEN` if there is none.
        stages, planned_stages: the debated and the planned numbers.
        cases, planned_cases: the debated and the planned numbers.
        calls, usd: the cost of both sides' debates; NaN if unknown, as for recorded debates.
    """

    reason: str
    stages: int
    planned_stages: int
    cases: int
    planned_cases: int
    calls: float
    usd: float


def choose_planned_cases(test: SequentialTest, results: ExperimentResults) -> list[Case]:
    """Return the cases that an experiment of a sequential contrast plans to debate."""
    available = open_cases(list(results.case_by_id.values()), results.config.split)
    return choose_cases(available, test.planned_cases, results.seed)


def paired_differences(
    contrast: Contrast, test: SequentialTest, experiments: Mapping[str, ExperimentResults]
) -> PairedDifferences:
    """Return the differences between both sides by cluster, of the cases debated so far; may be
    empty.
    """
    results, side = experiments[contrast.first.experiment], contrast.first
    matching = matching_cases(side, results.cases) if side.cases else set(results.case_by_id)
    planned_sizes = Counter(
        results.clusters[case.case_id]
        for case in choose_planned_cases(test, results)
        if case.case_id in matching
    )
    (case_ids, first), (_, second) = (
        debates.by_case for debates in sides_of(contrast, experiments)
    )
    cluster_names = [str(results.clusters[case_id]) for case_id in case_ids]
    codes = np.unique(cluster_names, return_inverse=True)[1]
    sums = sums_by(np.hstack([first.tops - second.tops, first.bottoms]), codes)
    largest = max(planned_sizes.values(), default=1)
    return PairedDifferences(sums[:, 0], sums[:, 1], largest, DIFFERENCE)


def stage_numbers(cases: Sequence[Case], task: Task, size: int, seed: int) -> dict[str, int]:
    """Return the stage in which each case is debated, by case id.

    The seed determines the order of clusters. Each cluster belongs to one stage, and a stage has
    about `size` cases.

    Raises:
        UserError: cases belong to clusters of several kinds, so that none can be kept together.
    """
    if len(kinds := cluster_attributes(task.cluster)) > 1:
        raise UserError(
            f"data set '{cases[0].dataset}': its cases belong to clusters of several kinds"
            f" ({', '.join(kinds)}), and a contrast that stops early (`stop`) debates whole"
            " clusters. Set the data set's `cluster` to one of them."
        )
    clusters = {case.case_id: cluster_name(case, task) for case in cases}
    sizes = Counter(clusters.values())
    stages: dict[Cluster, int] = {}
    case_count = 0
    # "look" is part of the seed, which must not change
    for cluster in sorted(sizes, key=lambda name: (stable_fraction("look", seed, name), name)):
        stages[cluster] = case_count // size
        case_count += sizes[cluster]
    return {case_id: stages[cluster] for case_id, cluster in clusters.items()}


def measure_progress(
    contrast: Contrast, test: SequentialTest, experiments: Mapping[str, ExperimentResults]
) -> Progress:
    """Measure the progress of a contrast's debates from the results so far.

    Raises:
        UserError: cases belong to clusters of several kinds.
    """
    results = experiments[contrast.first.experiment]
    planned_cases = choose_planned_cases(test, results)
    stages = stage_numbers(planned_cases, results.task, test.cases_per_stage, results.seed)
    predictions = _predictions_of_sides(contrast, experiments)
    last_stage = max((stages[case] for case in predictions["case_id"].unique()), default=-1)
    later_stages = [stage for stage in stages.values() if stage > last_stage]
    case_count = len(stages) - len(later_stages)
    calls, usd = (
        float(predictions[column].astype(float).sum(min_count=1))
        for column in ("calls", "cost_usd")
    )
    reason = paired_differences(contrast, test, experiments).verdict(
        test.difference, test.alpha, case_count / len(stages), test.futility
    )
    if reason == OPEN and not later_stages:
        reason = ALL_DEBATED
    elif reason == OPEN and test.usd is not None and case_count:
        next_stage = min(later_stages)  # a stage may have no cases
        expected_usd = usd + usd / case_count * later_stages.count(next_stage)
        if expected_usd > test.usd:
            reason = BUDGET
    return Progress(
        reason,
        last_stage + 1,
        max(stages.values()) + 1,
        case_count,
        len(stages),
        calls,
        usd,
    )


def _predictions_of_sides(
    contrast: Contrast, experiments: Mapping[str, ExperimentResults]
) -> pd.DataFrame:
    """Return the predictions of the experiments and models that a contrast compares."""
    models: dict[str, set[str]] = {}
    for side in contrast.sides:
        models.setdefault(side.experiment, set()).update(side.models)
    frames = []
    for name, model_names in models.items():
        predictions = experiments[name].predictions
        frames.append(predictions[predictions["model"].isin(model_names)])
    return pd.concat(frames)


def all_can_stop(progress: Iterable[Progress]) -> bool:
    """Return whether linked experiments stop: each contrast is decided, or one has no money
    left.
    """
    reasons = [contrast.reason for contrast in progress]
    return OPEN not in reasons or BUDGET in reasons
