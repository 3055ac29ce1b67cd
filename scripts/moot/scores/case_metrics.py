"""Metrics of contrasts: ratios of sums over debates.

In this form cases can be paired, resampled and exchanged.

A metric turns one model's debates into terms. Each term is a sum over debates divided by another
sum, and the metric is the mean over terms. Accuracy has one term (right answers over debates), and
so has F1 of the positive label. Macro F1 has one term per label.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pandas as pd

from moot.core.cases import positive_of_two
from moot.core.errors import CannotTellError
from moot.core.experiment_config import RECORDED
from moot.core.registry import Registry
from moot.core.types import Column
from moot.scores.groups import UNDECIDED_SCORE, find_undecided, probability_of_prediction
from moot.scores.results import ExperimentResults
from moot.stats.arrays import Floats, as_numbers
from moot.stats.statistic import AMOUNT, F1_ODDS, SHARE, Bounds


@dataclass(frozen=True, slots=True)
class Terms:
    """A metric's terms, debate by debate.

    Attributes:
        case_ids: the case of each debate, shape (debates,).
        tops: numerators, shape (debates, terms).
        bottoms: denominators, of the same shape.
        bounds: the smallest and the largest possible value of the metric.
        needs_hits, odds: as in `moot.stats.differences.Sums`.
    """

    case_ids: list[str]
    tops: Floats
    bottoms: Floats
    bounds: Bounds = SHARE
    needs_hits: bool = False
    odds: float = 1.0


CaseMetric = Callable[[ExperimentResults, str], Terms]
MetricT = TypeVar("MetricT", bound=CaseMetric)
CASE_METRICS: Registry[CaseMetric] = Registry("metric of contrasts", "scores", "moot.scores")


def case_metric(name: str) -> Callable[[MetricT], MetricT]:
    """Register a metric: `@case_metric("NAME")` above `def name(results, model) -> Terms`."""

    def add(metric: MetricT) -> MetricT:
        CASE_METRICS.register(name)(metric)
        return metric

    return add


def _rows(results: ExperimentResults, model: str) -> pd.DataFrame:
    return results.predictions[results.predictions["model"] == model]


def _rows_with_truth(results: ExperimentResults, model: str) -> pd.DataFrame:
    rows = _rows(results, model)
    return rows[rows["target"] != ""]


def _share(rows: pd.DataFrame, values: Column, bounds: Bounds = SHARE) -> Terms:
    """Return the terms of a mean with one value per debate."""
    tops = as_numbers(values)[:, None]
    return Terms(list(rows["case_id"]), tops, np.ones_like(tops), bounds)


@case_metric("accuracy")
def accuracy(results: ExperimentResults, model: str) -> Terms:
    """Share of debates with the right answer; an invalid one is wrong."""
    rows = _rows_with_truth(results, model)
    return _share(rows, (rows["status"] == "valid") & (rows["prediction"] == rows["target"]))


@case_metric("accuracy_of_valid")
def accuracy_of_valid(results: ExperimentResults, model: str) -> Terms:
    """Share of right answers among debates with a usable answer."""
    rows = _rows_with_truth(results, model)
    rows = rows[rows["status"] == "valid"]
    return _share(rows, rows["prediction"] == rows["target"])


@case_metric("valid")
def valid(results: ExperimentResults, model: str) -> Terms:
    """Share of debates with a usable answer."""
    rows = _rows(results, model)
    return _share(rows, rows["status"] == "valid")


@case_metric("gain_over_majority")
def gain_over_majority(results: ExperimentResults, model: str) -> Terms:
    """Accuracy less that of always naming the most frequent label; an invalid answer is wrong.

    The most frequent label is that of the same cases.
    """
    rows = _rows_with_truth(results, model)
    is_right = (rows["status"] == "valid") & (rows["prediction"] == rows["target"])
    targets = rows.drop_duplicates("case_id")["target"]
    most_frequent = targets.value_counts().idxmax() if len(targets) else ""
    gain = is_right.astype(float) - (rows["target"] == most_frequent).astype(float)
    return _share(rows, gain, (-1.0, 1.0))


@case_metric("f1")
def f1(results: ExperimentResults, model: str) -> Terms:
    """F1 of the positive of two labels; an invalid answer counts as a miss."""
    positive = positive_of_two(results.task)
    if not positive:
        raise CannotTellError(
            f"contrast with the metric f1: the data set of {results.experiment} has the labels "
            f"{', '.join(results.task.labels)}, but F1 needs two labels, one of them positive. "
            "Use macro_f1."
        )
    return replace(_f1(_rows_with_truth(results, model), [positive]), odds=F1_ODDS)


@case_metric("macro_f1")
def macro_f1(results: ExperimentResults, model: str) -> Terms:
    """Mean of the labels' F1; an invalid answer counts as a miss.

    Labels that are neither true nor predicted by either side on the same cases do not count.
    """
    labels = list(results.task.labels)
    return _f1(_rows_with_truth(results, model), labels)


def _f1(rows: pd.DataFrame, labels: list[str]) -> Terms:
    answers = rows["prediction"].where(rows["status"] == "valid")
    true = as_numbers([rows["target"] == label for label in labels]).T
    predicted = as_numbers([answers == label for label in labels]).T
    return Terms(list(rows["case_id"]), 2 * true * predicted, true + predicted, needs_hits=True)


@case_metric("brier")
def brier(results: ExperimentResults, model: str) -> Terms:
    """Mean squared distance of an answer's probability from its being right; lower is better.

    A belief of one half counts, though it names no answer.
    """
    rows = _rows_with_truth(results, model)
    probability, correct = _probability_and_correctness(results, rows)
    probability = np.where(find_undecided(rows), UNDECIDED_SCORE, probability)
    return _mean_where_defined(rows, (probability - correct) ** 2, SHARE)


@case_metric("overconfidence")
def overconfidence(results: ExperimentResults, model: str) -> Terms:
    """Mean probability of the answer less the share that is right, of debates that state one."""
    rows = _rows_with_truth(results, model)
    probability, correct = _probability_and_correctness(results, rows)
    return _mean_where_defined(rows, probability - correct, (-1.0, 1.0))


def _probability_and_correctness(
    results: ExperimentResults, rows: pd.DataFrame
) -> tuple[Floats, Floats]:
    probability = probability_of_prediction(rows, results.task)
    usable = (rows["status"] == "valid").to_numpy()
    return np.where(usable, probability, np.nan), as_numbers(rows["prediction"] == rows["target"])


def _mean_where_defined(rows: pd.DataFrame, values: Floats, bounds: Bounds) -> Terms:
    is_defined = ~np.isnan(values)
    return Terms(
        list(rows["case_id"]),
        np.where(is_defined, values, 0.0)[:, None],
        as_numbers(is_defined)[:, None],
        bounds,
    )


@case_metric("tokens")
def tokens(results: ExperimentResults, model: str) -> Terms:
    """Prompt and generated tokens of a debate."""
    rows = _rows_with_calls(results, model, "tokens")
    return _share(rows, rows["prompt_tokens"] + rows["completion_tokens"], AMOUNT)


@case_metric("calls")
def calls(results: ExperimentResults, model: str) -> Terms:
    """Calls of a debate."""
    rows = _rows_with_calls(results, model, "calls")
    return _share(rows, rows["calls"], AMOUNT)


def _rows_with_calls(results: ExperimentResults, model: str, metric: str) -> pd.DataFrame:
    if results.config.protocol == RECORDED:
        raise CannotTellError(
            f"contrast with the metric {metric}: the calls and tokens of the recorded debates of"
            f" {results.experiment} are not known. Compare another metric."
        )
    return _rows(results, model)
