"""How far stated confidence can be trusted: AUC, Brier score, expected calibration error.

A stated confidence becomes a probability by the one rule of `moot.core.confidence`. Only valid
answers with a probability count: `n` says how many have one, `confidence_missing` how many have
none.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.core.cases import positive_of_two
from moot.scores import no_scores, scorer
from moot.scores.groups import Group, by_group, probability_of_positive, probability_of_prediction
from moot.scores.results import ExperimentResults, Score
from moot.stats.bootstrap import DIFFERENCE, Statistic, as_numbers, mean_statistic, share_statistic
from moot.stats.calibration import (
    auc_statistic,
    calibration_error_by_chance,
    calibration_error_statistic,
)


@scorer("calibration")
def calibration(results: ExperimentResults) -> pd.DataFrame:
    """By model and group: `auc`, `brier` (of the positive label's probability),
    `brier_of_prediction`, `expected_calibration_error` (ten bins), `calibration_error_by_chance`
    (of calibrated answers with these confidences), `confidence`, `overconfidence`,
    `auc_of_confidence` (does confidence tell right from wrong?), `confidence_missing`; none for
    multi-label tasks, and where no truth is known.
    """
    nothing = results.task.multilabel or not results.has_truth
    return no_scores() if nothing else by_group(results, _group_scores)


def _group_scores(results: ExperimentResults, group: Group) -> Iterator[Score]:
    rows = group.rows[group.valid]
    positive = positive_of_two(results.task)
    correct = as_numbers(rows["prediction"] == rows["target"])
    confidence = probability_of_prediction(rows, results.task)
    statistics: list[tuple[str, NDArray[np.bool_], Statistic]] = []
    if positive:
        probability = probability_of_positive(rows, results.task)
        truth = as_numbers(rows["target"] == positive)
        has_probability = ~np.isnan(probability)
        statistics += [
            (
                "auc",
                has_probability,
                auc_statistic(truth[has_probability], probability[has_probability]),
            ),
            (
                "brier",
                has_probability,
                share_statistic((probability - truth)[has_probability] ** 2),
            ),
        ]
    has_probability = ~np.isnan(confidence)
    correct_known, confidence_known = correct[has_probability], confidence[has_probability]
    missing = float((~has_probability).sum())
    yield Score(
        "confidence_missing", missing, group=group.name, n=len(rows), n_invalid=group.n_invalid
    )
    statistics += [
        (
            "brier_of_prediction",
            has_probability,
            share_statistic((confidence_known - correct_known) ** 2),
        ),
        (
            "expected_calibration_error",
            has_probability,
            calibration_error_statistic(confidence_known, correct_known),
        ),
        ("confidence", has_probability, share_statistic(confidence_known)),
        (
            "overconfidence",
            has_probability,
            mean_statistic(confidence_known - correct_known, DIFFERENCE),
        ),
        ("auc_of_confidence", has_probability, auc_statistic(correct_known, confidence_known)),
    ]
    by_chance = calibration_error_by_chance(confidence_known, results.seed)
    yield Score(
        "calibration_error_by_chance",
        by_chance,
        group=group.name,
        n=len(confidence_known),
        n_invalid=group.n_invalid,
    )
    for metric, is_included, statistic in statistics:
        sample = results.sample(rows["case_id"].to_numpy()[is_included])
        yield sample.score(metric, statistic, group.name, n_invalid=group.n_invalid)
