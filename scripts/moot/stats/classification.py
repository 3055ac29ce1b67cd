"""Classification metrics from sums over weighted rows.

Debates, references, baselines and resamples all use them.

Truth and predictions are matrices of shape (rows, labels). The same computation therefore covers
two labels, many labels, several labels at once, and the expected result of a coin. `assigned` is 1
at the predicted labels. For a coin it holds the probability of each label, and the sums are
expected sums. A row without an assigned label (an unusable answer, which counts as wrong) is a miss
of its true label.

The labels of macro averages are fixed before resampling: all labels that are true or predicted in
the sample, as in scikit-learn. A label that does not occur in a resample counts as 0 there
(`zero_division=0`). Otherwise each resample would average over a different set of labels.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from moot.stats.arrays import Floats, Truths, ratio
from moot.stats.calibration import auc_statistic
from moot.stats.statistic import DIFFERENCE, SHARE, Bounds, Statistic

Scored = Literal["probability", "decision"]
Key = tuple[str, str, str]
"""Metric, average, and label (or "")."""

METRICS = (
    "accuracy",
    "auc",
    *map(
        "_".join, product(("recall", "precision", "f1"), ("binary", "macro", "weighted", "micro"))
    ),
    "kappa",
    "mcc",
    "brier",
)
COEFFICIENT_DIGITS = 12  # rounding leaves 1e-16 instead of 0, which differs between machines


@dataclass(frozen=True, slots=True)
class Sums:
    """Weighted sums over rows, of shape (resamples, labels) or (resamples,).

    The latter are `correct` and `total`.
    """

    hits: Floats
    predicted: Floats
    true: Floats
    correct: Floats
    total: Floats


def weighted_sums(
    truth: Floats, assigned: Floats, weights: Floats, multilabel: bool = False
) -> Sums:
    """Return the sums behind every metric.

    A row with several labels is right as a whole or not at all.
    """
    both = truth * assigned
    exact = (both + (1 - truth) * (1 - assigned)).prod(axis=1) if multilabel else both.sum(axis=1)
    return Sums(
        weights @ both, weights @ assigned, weights @ truth, weights @ exact, weights.sum(axis=1)
    )


def occurring_labels(truth: Floats, assigned: Floats) -> Truths:
    """Return the labels that are true or predicted in some row, shape (labels,)."""
    occurs: Truths = (truth + assigned).sum(axis=0) > 0
    return occurs


def averages(
    totals: Sums, labels: tuple[str, ...], occurs: Truths, positive: int | None = None
) -> dict[Key, Floats]:
    """Return precision, recall and F1.

    There are macro, micro and weighted averages, and values of the positive label and of each label
    that occurs.

    Ratios with the denominator 0 count as 0, as with scikit-learn's `zero_division=0`. All values
    are NaN without rows.
    """
    metrics: dict[Key, Floats] = {}
    halves = (totals.predicted + totals.true) / 2
    for name, denominator in (
        ("precision", totals.predicted),
        ("recall", totals.true),
        ("f1", halves),
    ):
        by_label = ratio(totals.hits, denominator, 0.0)
        metrics[name, "macro", ""] = ratio(
            by_label[:, occurs].sum(axis=1), np.full(len(by_label), occurs.sum())
        )
        metrics[name, "micro", ""] = ratio(totals.hits.sum(axis=1), denominator.sum(axis=1), 0.0)
        metrics[name, "weighted", ""] = ratio(
            (by_label * totals.true).sum(axis=1), totals.true.sum(axis=1)
        )
        if positive is not None:
            metrics[name, "binary", ""] = by_label[:, positive]
        for position, label in enumerate(labels):
            metrics[name, "binary", label] = np.where(
                occurs[position], by_label[:, position], np.nan
            )
    return {key: np.where(totals.total > 0, values, np.nan) for key, values in metrics.items()}


def kappa(totals: Sums, without_spread: float = float("nan")) -> Floats:
    """Return Cohen's kappa, or `without_spread` if chance alone would always agree."""
    agreed, by_chance = totals.hits.sum(axis=1), (totals.true * totals.predicted).sum(axis=1)
    values = ratio(agreed * totals.total - by_chance, totals.total**2 - by_chance, without_spread)
    return np.where(totals.total > 0, values, np.nan).round(COEFFICIENT_DIGITS)


def matthews(totals: Sums) -> Floats:
    """Return the Matthews correlation for any number of labels.

    It is 0 if the truth or the predictions are constant.
    """
    agreed, by_chance = totals.hits.sum(axis=1), (totals.true * totals.predicted).sum(axis=1)
    true_spread = totals.total**2 - (totals.true**2).sum(axis=1)
    predicted_spread = totals.total**2 - (totals.predicted**2).sum(axis=1)
    # constant labels give 0 but for rounding, which may be negative
    spread = np.sqrt(np.maximum(true_spread * predicted_spread, 0.0))
    values = ratio(agreed * totals.total - by_chance, spread, 0.0)
    return np.where(totals.total > 0, values, np.nan).round(COEFFICIENT_DIGITS)


def rates(totals: Sums, positive: int) -> dict[Key, Floats]:
    """Return how often the positive label is predicted, is true, and is predicted wrongly."""
    hits = totals.hits[:, positive]
    predicted = totals.predicted[:, positive]
    actual = totals.true[:, positive]
    predicted_rate, base_rate = ratio(predicted, totals.total), ratio(actual, totals.total)
    return {
        ("false_positive_rate", "binary", ""): ratio(predicted - hits, totals.total - actual),
        ("predicted_positive_rate", "binary", ""): predicted_rate,
        ("base_rate", "binary", ""): base_rate,
        ("base_rate_distance", "binary", ""): predicted_rate - base_rate,
    }


def metric_bounds(metric: str) -> Bounds:
    """Return the smallest and the largest possible value of a metric."""
    return DIFFERENCE if metric == "base_rate_distance" else SHARE


def rows_behind(
    key: Key, truth: Floats, assigned: Floats, labels: tuple[str, ...], positive: int | None
) -> Truths:
    """Return the rows that a metric depends on.

    For recall of a label, these are the rows with the label; for precision, the rows for which it
    was predicted.
    """
    metric, average, label = key
    column = labels.index(label) if label else positive
    if average != "binary" or column is None:
        return np.ones(len(truth), dtype=bool)
    true, predicted = truth[:, column] > 0, assigned[:, column] > 0
    behind = {
        "precision": predicted,
        "recall": true,
        "f1": true | predicted,
        "false_positive_rate": ~true,
    }
    return behind.get(metric, np.ones(len(truth), dtype=bool))


@dataclass(frozen=True, slots=True)
class ClassificationOutcome:
    """Predictions and the truth.

    Attributes:
        truth: 1 where the case has the label, else 0; shape (cases, labels).
        assigned: 1 where the label was predicted, or the probability of predicting it; same shape.
        scores: how much each label is favoured; same shape, None if the model only names a label.
        scored: the kind of `scores`: probabilities, or decision values that only rank.
        positive: the column of the positive label in binary averages; None unless there are two
            labels.
        multilabel: whether a case may have several labels.
    """

    truth: Floats
    assigned: Floats
    scores: Floats | None
    scored: Scored
    positive: int | None
    multilabel: bool = False


def measure(outcome: ClassificationOutcome) -> dict[str, float]:
    """Return all of `METRICS`; a metric that is undefined is NaN.

    Examples are the Brier score of decision values and the AUC with one class.

    With several labels per case, accuracy compares the whole set. The AUC of more than two labels
    compares each label with the rest, weighted by the label's share. The Brier score of more than
    two labels is the sum over labels; for two labels it uses the positive one.
    """
    totals = weighted_sums(
        outcome.truth, outcome.assigned, np.ones((1, len(outcome.truth))), outcome.multilabel
    )
    averaged = averages(
        totals, (), occurring_labels(outcome.truth, outcome.assigned), outcome.positive
    )
    values = {
        f"{metric}_{average}": float(value[0]) for (metric, average, _), value in averaged.items()
    }
    values |= {"accuracy": float(ratio(totals.correct, totals.total)[0]), "brier": _brier(outcome)}
    values["auc"] = float(_auc(outcome)(np.ones((1, len(outcome.truth))))[0])
    if not outcome.multilabel:
        # With a single label everywhere kappa is 0/0, which means no agreement beyond chance.
        values |= {
            "kappa": float(kappa(totals, without_spread=0.0)[0]),
            "mcc": float(matthews(totals)[0]),
        }
    return {metric: values.get(metric, np.nan) for metric in METRICS}


def statistics_with_interval(outcome: ClassificationOutcome) -> Mapping[str, Statistic]:
    """Return the statistics of accuracy, macro F1 and AUC."""
    occurs = occurring_labels(outcome.truth, outcome.assigned)

    def statistic_of(metric: Callable[[Sums], Floats]) -> Statistic:
        return Statistic(
            lambda w: metric(weighted_sums(outcome.truth, outcome.assigned, w, outcome.multilabel)),
            SHARE,
        )

    return {
        "accuracy": statistic_of(lambda totals: ratio(totals.correct, totals.total)),
        "f1_macro": statistic_of(lambda totals: averages(totals, (), occurs)["f1", "macro", ""]),
        "auc": _auc(outcome),
    }


def confusion(outcome: ClassificationOutcome) -> Floats:
    """Return counts of shape (actual label, predicted label); expected counts for a coin."""
    return outcome.truth.T @ outcome.assigned


def _auc(outcome: ClassificationOutcome) -> Statistic:
    if outcome.scores is None:
        return Statistic(lambda weights: np.full(len(weights), np.nan))
    if outcome.positive is not None:
        return auc_statistic(
            outcome.truth[:, outcome.positive], outcome.scores[:, outcome.positive]
        )
    columns = [
        auc_statistic(truth, scores)
        for truth, scores in zip(outcome.truth.T, outcome.scores.T, strict=True)
    ]

    def weighted(weights: Floats) -> Floats:
        by_label = np.stack([column(weights) for column in columns], axis=1)
        actual = weights @ outcome.truth * ~np.isnan(by_label)
        return ratio((np.nan_to_num(by_label) * actual).sum(axis=1), actual.sum(axis=1))

    return Statistic(weighted, SHARE)


def _brier(outcome: ClassificationOutcome) -> float:
    if outcome.scores is None or outcome.scored != "probability" or outcome.multilabel:
        return float("nan")
    squares = (outcome.scores - outcome.truth) ** 2
    columns = squares.sum(axis=1) if outcome.positive is None else squares[:, outcome.positive]
    return float(columns.mean())
