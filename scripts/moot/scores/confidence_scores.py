"""Trust in stated confidence: AUC, Brier score, expected calibration error.

`moot.core.confidence` converts a stated confidence to a probability. Only valid answers with a
probability count: `n` is their number, and `confidence_missing` the number of answers without one.
Brier scores and `auc` also count beliefs of one half, which name no label.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.core.cases import positive_of_two
from moot.scores import no_scores, scorer
from moot.scores.groups import Group, by_group, probability_of_positive, probability_of_prediction
from moot.scores.results import ExperimentResults
from moot.scores.score import Score
from moot.stats.arrays import as_numbers
from moot.stats.calibration import (
    auc_statistic,
    calibration_error,
    calibration_error_by_chance,
)
from moot.stats.statistic import DIFFERENCE, Statistic, mean_statistic, share_statistic


@scorer("calibration")
def calibration(results: ExperimentResults) -> pd.DataFrame:
    """Probabilities and stated confidence, by model and group.

    `auc`, `brier` (of the positive label's probability), `brier_of_prediction`,
    `expected_calibration_error` (ten bins), `calibration_error_by_chance` (of calibrated answers
    with these confidences), `confidence`, `overconfidence`, `auc_of_confidence` (does confidence
    tell right from wrong?), `confidence_missing`; none for multi-label tasks, and where no truth is
    known.
    """
    nothing = results.task.multilabel or not results.has_truth
    return no_scores() if nothing else by_group(results, _group_scores)


def _group_scores(results: ExperimentResults, group: Group) -> Iterator[Score]:
    rows = group.rows[group.valid]
    believers = group.rows[group.valid | group.undecided]
    positive = positive_of_two(results.task)
    correct = as_numbers(rows["prediction"] == rows["target"])
    confidence = probability_of_prediction(rows, results.task)
    statistics: list[tuple[str, pd.Series, Statistic]] = []
    if positive:
        probability = probability_of_positive(believers, results.task)
        truth = as_numbers(believers["target"] == positive)
        is_stated = ~np.isnan(probability)
        cases = believers["case_id"][is_stated]
        errors = (probability - truth)[is_stated] ** 2
        statistics += [
            ("auc", cases, auc_statistic(truth[is_stated], probability[is_stated])),
            ("brier", cases, share_statistic(errors)),
        ]
    errors_of_predictions = _squared_errors(results, believers)
    is_stated = errors_of_predictions.notna().to_numpy()
    has_probability = ~np.isnan(confidence)
    correct_known, confidence_known = correct[has_probability], confidence[has_probability]
    missing = float((~has_probability).sum())
    yield Score(
        "confidence_missing", missing, group=group.name, n=len(rows), n_invalid=group.n_invalid
    )
    cases = rows["case_id"][has_probability]
    overconfidence = mean_statistic(confidence_known - correct_known, DIFFERENCE)
    statistics += [
        (
            "brier_of_prediction",
            believers["case_id"][is_stated],
            share_statistic(errors_of_predictions[is_stated]),
        ),
        ("confidence", cases, share_statistic(confidence_known)),
        ("overconfidence", cases, overconfidence),
        ("auc_of_confidence", cases, auc_statistic(correct_known, confidence_known)),
    ]
    known_sample = results.sample(cases)
    for metric, value in {
        "expected_calibration_error": calibration_error(confidence_known, correct_known),
        "calibration_error_by_chance": calibration_error_by_chance(confidence_known, results.seed),
    }.items():
        yield known_sample.count(metric, value, group.name, n_invalid=group.n_invalid)
    for metric, case_ids, statistic in statistics:
        sample = results.sample(case_ids.to_numpy())
        yield sample.score(metric, statistic, group.name, n_invalid=group.n_invalid)


def _squared_errors(results: ExperimentResults, rows: pd.DataFrame) -> "pd.Series[float]":
    """Return the squared distance between each prediction's probability and its correctness."""
    probability = probability_of_prediction(rows, results.task)
    return pd.Series((probability - as_numbers(rows["prediction"] == rows["target"])) ** 2)
