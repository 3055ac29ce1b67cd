"""Classification scores, from accuracy to rates and confusion, in two variants.

The plain variant of a metric drops rows without a usable answer. The variant with the suffix
`_invalid_wrong` counts such a row as a miss of its true label: it is a false negative, and not a
false positive, since nothing was predicted.

As in scikit-learn, undefined values are 0 (`zero_division=0`), and macro averages leave out labels
that are neither true nor predicted in the sample (see `moot.stats.classification`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from moot.core.cases import BASE_RATE_COIN, MAJORITY_CLASS
from moot.core.errors import UserError
from moot.scores import INVALID_WRONG, concat_scores, no_scores, scorer, to_frame
from moot.scores.groups import Group, by_group
from moot.scores.results import ExperimentResults
from moot.scores.score import OVERALL, Score
from moot.stats.agreement import coefficient_of_two
from moot.stats.arrays import Floats, Truths, ratio
from moot.stats.classification import (
    Key,
    Sums,
    averages,
    kappa,
    matthews,
    metric_bounds,
    occurring_labels,
    rates,
    rows_behind,
    weighted_sums,
)
from moot.stats.statistic import F1_ODDS, Statistic, share_statistic

COEFFICIENTS: Mapping[str, Callable[[Sums], Floats]] = {
    "kappa": partial(kappa, without_spread=0.0),
    "mcc": matthews,
}
"""They compare two raters, and need an answer of both."""


@scorer("classification")
def classification(results: ExperimentResults) -> pd.DataFrame:
    """Right and wrong answers, by model and group, also of the two references.

    `accuracy`, `precision`, `recall`, `f1`, `kappa`, `mcc`, `confusion:TRUE:PREDICTED`; for a
    positive label `false_positive_rate`, `predicted_positive_rate`, `base_rate`,
    `base_rate_distance`. Where no truth is known: `share:LABEL`.

    Undefined ratios are 0; a label neither true nor predicted does not enter the macro average.
    """
    if results.task.multilabel:
        return no_scores()
    if not results.has_truth:
        return by_group(results, _label_shares)
    return concat_scores([by_group(results, _group_scores), *_reference_scores(results)])


def _label_shares(results: ExperimentResults, group: Group) -> Iterator[Score]:
    rows = group.rows[group.valid]
    for label in results.task.labels:
        share = share_statistic(rows["prediction"] == label)
        yield results.sample(rows["case_id"]).score(
            f"share:{label}", share, group.name, n_invalid=group.n_invalid
        )


def _group_scores(results: ExperimentResults, group: Group) -> Iterator[Score]:
    labels = results.task.labels
    truth, predicted = one_hot(group.rows, labels)
    sample = results.sample(group.rows["case_id"])
    counts = truth.T @ np.column_stack([predicted, predicted.sum(axis=1) == 0])
    for true, cells in zip(labels, counts, strict=True):
        for answer, count in zip((*labels, "invalid"), cells, strict=True):
            if count:
                yield sample.count(f"confusion:{true}:{answer}", float(count), group.name)
    for suffix, is_included in (
        ("", group.valid),
        (INVALID_WRONG, np.ones(len(group.rows), dtype=bool)),
    ):
        scores = _scores(
            results,
            group.rows[is_included],
            truth[is_included],
            predicted[is_included],
            invalid_wrong=bool(suffix),
        )
        for score in scores:
            group_name = _group_name(group.name, score.group)
            yield replace(
                score, metric=score.metric + suffix, group=group_name, n_invalid=group.n_invalid
            )


def _scores(
    results: ExperimentResults,
    rows: pd.DataFrame,
    truth: Floats,
    predicted: Floats,
    *,
    invalid_wrong: bool,
) -> Iterator[Score]:
    """Yield every metric of some rows with its interval.

    A metric of a label has the label as its `group`.
    """
    labels = results.task.labels
    positive = labels.index(results.task.positive) if results.task.positive else None
    sample = results.sample(rows["case_id"])
    jackknife = sample.jackknife
    occurs = occurring_labels(truth, predicted)

    def metrics(weights: Floats) -> dict[Key, Floats]:
        return _metrics(
            weighted_sums(truth, predicted, weights), labels, positive, occurs, invalid_wrong
        )

    def single_metric(key: Key, weights: Floats) -> Floats:
        return metrics(weights)[key]

    values, without = metrics(np.ones((1, len(rows)))), jackknife.values_without(metrics)
    for key, value in values.items():
        metric, average, label = key
        behind = rows_behind(key, truth, predicted, labels, positive)
        odds = F1_ODDS if (metric, average) == ("f1", "binary") else 1.0
        function = partial(single_metric, key)
        statistic = Statistic(function, metric_bounds(metric), behind, odds=odds)
        ends = jackknife.method_of(float(value[0]), without[key], statistic).interval()
        yield Score(
            metric, float(value[0]), *ends, average, label, sample.n, n_cases=sample.n_cases
        )
    if not invalid_wrong:
        for metric, coefficient in COEFFICIENTS.items():
            is_rated = np.ones(len(rows), dtype=bool)
            statistic = coefficient_of_two(coefficient, truth, predicted, is_rated)
            yield sample.score(metric, statistic, group="")


def _metrics(
    sums: Sums, labels: tuple[str, ...], positive: int | None, occurs: Truths, invalid_wrong: bool
) -> dict[Key, Floats]:
    """Return the metrics for one way of counting invalid answers."""
    metrics: dict[Key, Floats] = {("accuracy", "", ""): ratio(sums.correct, sums.total)}
    averaged = averages(sums, labels, occurs, positive)
    # with one label this is accuracy
    metrics |= {key: values for key, values in averaged.items() if key[1] != "micro"}
    if not invalid_wrong:
        metrics |= rates(sums, positive) if positive is not None else {}
    return metrics


def _group_name(group: str, label: str) -> str:
    if not label:
        return group
    return f"label={label}" if group == OVERALL else f"{group};label={label}"


def one_hot(rows: pd.DataFrame, labels: tuple[str, ...]) -> tuple[Floats, Floats]:
    """Return targets and answers as matrices of shape (rows, labels).

    A row without a usable answer holds zeros.

    Raises:
        UserError: a target or a valid prediction is not one of the labels.
    """
    valid = rows["status"] == "valid"
    outside_labels = rows[~rows["target"].isin(labels) | (valid & ~rows["prediction"].isin(labels))]
    if len(outside_labels):
        row = outside_labels.iloc[0]
        raise UserError(
            f"predictions of {row['experiment']}, {row['model']}, case '{row['case_id']}': "
            f"prediction '{row['prediction']}' and target '{row['target']}', expected labels "
            f"{', '.join(labels)}. Rebuild the predictions."
        )
    targets = rows["target"].to_numpy(dtype=object)
    answers = rows["prediction"].where(valid).to_numpy(dtype=object)
    columns = np.array(labels, dtype=object)
    truth, predicted = (values[:, None] == columns[None, :] for values in (targets, answers))
    return truth.astype(np.float64), predicted.astype(np.float64)


def _reference_scores(results: ExperimentResults) -> Iterator[pd.DataFrame]:
    """Yield the scores of the two references.

    One always names the sample's most frequent label. The other draws labels at their base rates.

    Each case is answered once. The counts of the second reference are expected values: its accuracy
    is the sum of the squared base rates.
    """
    labels = results.task.labels
    evaluated = results.predictions.drop_duplicates("case_id").sort_values("case_id")
    evaluated = evaluated.assign(status="valid", prediction=evaluated["target"])
    truth, _ = one_hot(evaluated, labels)
    shares = truth.mean(axis=0) if len(truth) else np.zeros(len(labels))
    for model, guess in (
        (MAJORITY_CLASS, np.eye(len(labels))[shares.argmax()]),
        (BASE_RATE_COIN, shares),
    ):
        guessed = np.tile(guess, (len(truth), 1))
        scores = [
            replace(score, group=_group_name(OVERALL, score.group))
            for score in _scores(results, evaluated, truth, guessed, invalid_wrong=False)
        ]
        yield to_frame(results.experiment, model, scores)
