"""How far stated confidence can be trusted: AUC, Brier score, expected calibration error.

Only valid answers that state a confidence (or carry a score) count; `n` says how many did.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.scores import ExperimentResults, Score, below_each_other, scorer, to_frame
from moot.scores.evaluated import Group, confidence_in_prediction, groups_of, positive_of_two, probability_of_positive
from moot.scores.uncertainty import CaseBootstrap, Floats, Statistic, as_numbers, mean_of, ratio

BINS = 10


@scorer("calibration")
def calibration(results: ExperimentResults) -> pd.DataFrame:
    """Calibration scores by model and group; empty for multi-label tasks."""
    if results.task.multilabel:
        return below_each_other([])
    return below_each_other(
        to_frame(results.experiment, group.model, _group_scores(results, group)) for group in groups_of(results)
    )


def _group_scores(results: ExperimentResults, group: Group) -> Iterator[Score]:
    rows = group.rows[group.valid]
    positive = positive_of_two(results.task)
    correct = as_numbers(rows["prediction"] == rows["target"])
    confidence = confidence_in_prediction(rows, positive)
    statistics: list[tuple[str, NDArray[np.bool_], Statistic]] = []
    if positive:
        probability = probability_of_positive(rows, positive)
        truth = as_numbers(rows["target"] == positive)
        known = ~np.isnan(probability)
        statistics += [
            ("auc", known, auc_of(truth[known], probability[known])),
            ("brier", known, mean_of((probability - truth)[known] ** 2)),
        ]
    known = ~np.isnan(confidence)
    right, stated = correct[known], confidence[known]
    statistics += [
        ("brier_of_prediction", known, mean_of((stated - right) ** 2)),
        ("expected_calibration_error", known, expected_calibration_error_of(stated, right)),
        ("confidence", known, mean_of(stated)),
        ("overconfidence", known, mean_of(stated - right)),
        ("auc_of_confidence", known, auc_of(right, stated)),
    ]
    for metric, kept, statistic in statistics:
        bootstrap = CaseBootstrap(rows["case_id"].to_numpy()[kept], results.seed)
        yield Score(
            metric, *bootstrap.estimate(statistic), group=group.name, n=bootstrap.rows, n_invalid=group.n_invalid
        )


def auc_of(truth: Floats, score: Floats) -> Statistic:
    """The area under the ROC curve (Mann-Whitney, ties count half); NaN where one class is missing."""
    order = np.argsort(score, kind="stable")
    _, ties = np.unique(score[order], return_index=True)

    def statistic(weights: Floats) -> Floats:
        positives = np.add.reduceat((weights * truth)[:, order], ties, axis=1)
        negatives = np.add.reduceat((weights * (1 - truth))[:, order], ties, axis=1)
        beaten = np.cumsum(negatives, axis=1) - negatives / 2
        return ratio((positives * beaten).sum(axis=1), positives.sum(axis=1) * negatives.sum(axis=1))

    return statistic


def confidence_bins(confidence: Floats) -> Floats:
    """The bin of each confidence (0 to 1) among `BINS` of equal width, one-hot, shape (rows, bins)."""
    position = np.clip((confidence * BINS).astype(int), 0, BINS - 1)
    one_hot: Floats = np.eye(BINS)[position]
    return one_hot


def expected_calibration_error_of(confidence: Floats, correct: Floats) -> Statistic:
    """The mean gap between confidence and accuracy over ten equal-width bins, weighted by the bins' sizes."""
    bins = confidence_bins(confidence)

    def statistic(weights: Floats) -> Floats:
        gaps = np.abs((weights * (confidence - correct)) @ bins)
        return ratio(gaps.sum(axis=1), weights.sum(axis=1))

    return statistic
