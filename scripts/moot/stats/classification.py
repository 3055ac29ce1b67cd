"""Classification metrics from sums over weighted rows: one engine for debates, references,
baselines and resamples.

Truth and predictions are matrices of shape (rows, labels), so that two labels, many labels, several
labels at once and a coin's expected result are one computation. `assigned` holds 1 at the predicted
labels; for a coin it holds the probabilities with which the coin picks each label, and sums become
expected sums. A row that assigns nothing (an answer that cannot be used, counted as wrong) is a
miss of its true label and a hit of none.

The labels of macro averages are fixed before resampling: those that are true or predicted somewhere
in the sample, as in scikit-learn. A resample without one of them counts 0 for it
(`zero_division=0`); were it left out there, each resample would average over labels of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from moot.stats.bootstrap import (
    DIFFERENCE,
    SHARE,
    Bounds,
    Floats,
    Statistic,
    Truths,
    departs_from_mode,
    ratio,
)
from moot.stats.calibration import auc_statistic

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
MIN_JOINT_DEPARTURES = 3  # rows
COEFFICIENT_DIGITS = 12  # what is left of 0 by rounding, 1e-16, differs from machine to machine
_SIGNED = ("kappa", "mcc", "base_rate_distance")


@dataclass(frozen=True, slots=True)
class Sums:
    """Weighted sums over rows: hits, predicted and true of shape (resamples, labels); right and
    total (resamples,).
    """

    hits: Floats
    predicted: Floats
    true: Floats
    correct: Floats
    total: Floats


def weighted_sums(
    truth: Floats, assigned: Floats, weights: Floats, multilabel: bool = False
) -> Sums:
    """Return the sums behind every metric; a row with several labels is right as a whole or not at
    all.
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
    """Precision, recall and F1: macro, micro, weighted, of the positive label, and of each label
    that occurs.

    Ratios without denominator count as 0, as scikit-learn's `zero_division=0`; all are NaN
    without rows.
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
    """Cohen's kappa; `without_spread` where chance alone would always agree."""
    agreed, by_chance = totals.hits.sum(axis=1), (totals.true * totals.predicted).sum(axis=1)
    values = ratio(agreed * totals.total - by_chance, totals.total**2 - by_chance, without_spread)
    return np.where(totals.total > 0, values, np.nan).round(COEFFICIENT_DIGITS)


def matthews(totals: Sums) -> Floats:
    """Return the Matthews correlation of any number of labels; 0 if truth or predictions are
    constant.
    """
    agreed, by_chance = totals.hits.sum(axis=1), (totals.true * totals.predicted).sum(axis=1)
    spread = np.sqrt(
        (totals.total**2 - (totals.true**2).sum(axis=1))
        * (totals.total**2 - (totals.predicted**2).sum(axis=1))
    )
    values = ratio(agreed * totals.total - by_chance, spread, 0.0)
    return np.where(totals.total > 0, values, np.nan).round(COEFFICIENT_DIGITS)


def rates(totals: Sums, positive: int) -> dict[Key, Floats]:
    """Return how often the positive label is predicted, is true, and is predicted where it is not
    true.
    """
    hits, predicted, actual = (
        totals.hits[:, positive],
        totals.predicted[:, positive],
        totals.true[:, positive],
    )
    predicted_rate, base_rate = ratio(predicted, totals.total), ratio(actual, totals.total)
    return {
        ("false_positive_rate", "binary", ""): ratio(predicted - hits, totals.total - actual),
        ("predicted_positive_rate", "binary", ""): predicted_rate,
        ("base_rate", "binary", ""): base_rate,
        ("base_rate_distance", "binary", ""): predicted_rate - base_rate,
    }


def metric_bounds(metric: str) -> Bounds:
    """Return the least and the greatest value of a metric."""
    return DIFFERENCE if metric in _SIGNED else SHARE


def rows_behind(
    key: Key, truth: Floats, assigned: Floats, labels: tuple[str, ...], positive: int | None
) -> Truths:
    """Return the rows that a metric rests on: for recall of a label those where it is true, for
    precision where predicted.
    """
    metric, average, label = key
    if metric in ("kappa", "mcc"):
        return rows_behind_agreement(truth, assigned)
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


def rows_behind_agreement(first: Floats, second: Floats, is_rated: Truths | None = None) -> Truths:
    """Return the rows that a coefficient of agreement rests on: those where a rater departs from
    its most frequent label, of the rater that does so more seldom.

    There are none where both are expected to depart from it together on fewer than
    `MIN_JOINT_DEPARTURES` rows: then most samples show no such row and intervals cover far too
    seldom (docs/results.md).

    Args:
        first, second: each rater's labels, shape (rows, labels).
        is_rated: which rows count, shape (rows,); None for all.
    """
    included = np.ones(len(first), dtype=bool) if is_rated is None else is_rated
    departs = np.zeros((2, len(first)), dtype=bool)
    for rater, labels in enumerate((first, second)):
        departs[rater, included] = departs_from_mode(labels[included])
    expected_together = departs.sum(axis=1).prod() / max(1, int(included.sum()))
    if expected_together < MIN_JOINT_DEPARTURES:
        return np.zeros(len(first), dtype=bool)
    return np.asarray(min(departs, key=np.sum), dtype=bool)


@dataclass(frozen=True, slots=True)
class ClassificationOutcome:
    """Predictions and the truth.

    Attributes:
        truth: 1 where the case has the label, else 0; shape (cases, labels).
        assigned: 1 where the label was predicted, or the probability of predicting it; same shape.
        scores: how much each label is favoured; same shape, None where the model only names a
            label.
        scored: what `scores` are: probabilities, or decision values that only rank.
        positive: the column that binary averages call positive; None for other than two labels.
        multilabel: whether a case may have several labels.
    """

    truth: Floats
    assigned: Floats
    scores: Floats | None
    scored: Scored
    positive: int | None
    multilabel: bool = False


def measure(outcome: ClassificationOutcome) -> dict[str, float]:
    """Return every one of `METRICS`; NaN where a metric has no meaning (Brier of decision values,
    AUC of one class).

    Accuracy of several labels at once is that of the whole set. The AUC of more than two labels
    is one label against the rest, weighted by the label's share; the Brier score of more than
    two labels is the sum over labels, else that of the positive label.
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
        # One label everywhere leaves kappa 0/0; no agreement beyond chance is what it means.
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
    """Counts of shape (actual label, predicted label); expected counts for a coin."""
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
