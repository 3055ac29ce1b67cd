"""What a baseline's predictions are worth: one definition for cross-validation, the test split and the intervals.

Truth, predictions and scores are matrices of shape (cases, labels), so that two labels, many labels, several labels at
once and a coin's expected result are one computation. A row of `Outcome.assigned` holds 1 at the predicted labels; for
a coin it holds the probabilities with which the coin picks each label, and counts become expected counts.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef

from moot.scores.calibration import auc_of
from moot.scores.uncertainty import CaseBootstrap, Floats, Statistic, ratio

Average = Literal["macro", "weighted", "micro"]
Scored = Literal["probability", "decision"]

METRICS = (
    "accuracy",
    "auc",
    *(f"{metric}_{a}" for metric in ("recall", "precision", "f1") for a in ("binary", "macro", "weighted", "micro")),
    "kappa",
    "mcc",
    "brier",
)
WITH_INTERVAL = ("accuracy", "f1_macro", "auc")
MEANT_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Outcome:
    """Predictions beside the truth.

    Attributes:
        truth: 1 where the case has the label, else 0; shape (cases, labels).
        assigned: 1 where the label was predicted, or the probability of predicting it; same shape.
        scores: how much each label is favoured; same shape, None where the model only names a label.
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


def measure(outcome: Outcome) -> dict[str, float]:
    """Every one of `METRICS`; NaN where a metric has no meaning (Brier of decision values, AUC of one class).

    Accuracy of several labels at once is that of the whole set. The AUC of more than two labels is one label against
    the rest, weighted by the label's share; the Brier score of more than two labels is the sum over labels, else that
    of the positive label. A ratio without denominator counts as 0, as scikit-learn's `zero_division=0`.
    """
    once = np.ones((1, len(outcome.truth)))
    values = {"accuracy": _accuracy(outcome)(once)[0], "auc": _auc(outcome)(once)[0]}
    hits, predicted, actual = _counts(outcome, once)
    for metric, bottom in (("recall", actual), ("precision", predicted), ("f1", (predicted + actual) / 2)):
        each = ratio(hits, bottom, 0.0)[0]
        values[f"{metric}_binary"] = np.nan if outcome.positive is None else each[outcome.positive]
        occurs = (predicted + actual)[0] > 0
        values[f"{metric}_macro"] = each[occurs].mean()
        values[f"{metric}_weighted"] = np.average(each, weights=actual[0])
        values[f"{metric}_micro"] = ratio(hits.sum(axis=1), bottom.sum(axis=1), 0.0)[0]
    values |= _chance_corrected(outcome) | {"brier": _brier(outcome)}
    return {metric: float(values[metric]) for metric in METRICS}


def intervals(outcome: Outcome, case_ids: "npt.NDArray[Any]", seed: int) -> dict[str, float]:
    """95 % bootstrap intervals over cases: `accuracy_low`, `accuracy_high`, and so on for `WITH_INTERVAL`."""
    bootstrap = CaseBootstrap(case_ids, seed)
    statistics = {"accuracy": _accuracy(outcome), "f1_macro": _f1_macro(outcome), "auc": _auc(outcome)}
    ends: dict[str, float] = {}
    for metric in WITH_INTERVAL:
        ends[f"{metric}_low"], ends[f"{metric}_high"] = bootstrap.interval(statistics[metric])
    return ends


def confusion(outcome: Outcome) -> Floats:
    """Counts of shape (actual label, predicted label); expected counts for a coin."""
    return outcome.truth.T @ outcome.assigned


def _counts(outcome: Outcome, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Correct predictions, all predictions and actual cases of each label, by resample: shape (resamples, labels)."""
    return weights @ (outcome.truth * outcome.assigned), weights @ outcome.assigned, weights @ outcome.truth


def _accuracy(outcome: Outcome) -> Statistic:
    agreement = outcome.truth * outcome.assigned
    if outcome.multilabel:
        right = (agreement + (1 - outcome.truth) * (1 - outcome.assigned)).prod(axis=1)
    else:
        right = agreement.sum(axis=1)
    return lambda weights: ratio(weights @ right, weights.sum(axis=1))


def _f1_macro(outcome: Outcome) -> Statistic:
    occurs = (outcome.truth + outcome.assigned).sum(axis=0) > 0

    def statistic(weights: Floats) -> Floats:
        hits, predicted, actual = _counts(outcome, weights)
        mean: Floats = ratio(2 * hits, predicted + actual, 0.0)[:, occurs].mean(axis=1)
        return mean

    return statistic


def _auc(outcome: Outcome) -> Statistic:
    if outcome.scores is None:
        return lambda weights: np.full(len(weights), np.nan)
    if outcome.positive is not None:
        return auc_of(outcome.truth[:, outcome.positive], outcome.scores[:, outcome.positive])
    columns = [auc_of(truth, scores) for truth, scores in zip(outcome.truth.T, outcome.scores.T, strict=True)]

    def statistic(weights: Floats) -> Floats:
        each = np.stack([column(weights) for column in columns], axis=1)
        actual = weights @ outcome.truth * ~np.isnan(each)
        return ratio((np.nan_to_num(each) * actual).sum(axis=1), actual.sum(axis=1))

    return statistic


def _chance_corrected(outcome: Outcome) -> dict[str, float]:
    if outcome.multilabel:
        return {"kappa": np.nan, "mcc": np.nan}
    cases, predicted = np.nonzero(outcome.assigned)
    actual, weights = outcome.truth[cases].argmax(axis=1), outcome.assigned[cases, predicted]
    # One label everywhere leaves kappa 0/0; no agreement beyond chance is what it means.
    kappa = np.nan_to_num(cohen_kappa_score(actual, predicted, sample_weight=weights))
    mcc = matthews_corrcoef(actual, predicted, sample_weight=weights)
    # What is left of 0 by rounding, 1e-16, differs from machine to machine.
    return {"kappa": round(float(kappa), MEANT_DIGITS), "mcc": round(float(mcc), MEANT_DIGITS)}


def _brier(outcome: Outcome) -> float:
    if outcome.scores is None or outcome.scored != "probability" or outcome.multilabel:
        return np.nan
    squares = (outcome.scores - outcome.truth) ** 2
    columns = squares.sum(axis=1) if outcome.positive is None else squares[:, outcome.positive]
    return float(columns.mean())
