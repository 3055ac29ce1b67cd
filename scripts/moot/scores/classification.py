"""Classification scores from confusion counts: accuracy, precision, recall, F1 (binary, macro, weighted), kappa, MCC.

Every metric is given twice. Plain: rows without a usable answer are dropped. With `_invalid_wrong`: such a row is a
miss of its true label and a hit of none (a false negative, and no false positive, since nothing was predicted).

Undefined values follow scikit-learn's `zero_division=0`; a label that is neither true nor predicted in a (re)sample
does not enter its macro average, as there.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.errors import UserError
from moot.scores import (
    BASE_RATE_COIN,
    INVALID_WRONG,
    MAJORITY_CLASS,
    OVERALL,
    ExperimentResults,
    Score,
    below_each_other,
    scorer,
    to_frame,
)
from moot.scores.evaluated import Group, groups_of, positive_of_two
from moot.scores.uncertainty import CaseBootstrap, Floats, percentile_interval, ratio

Metrics = dict[tuple[str, str, str], Floats]  # (metric, average, label or "") to values of shape (resamples,)


@scorer("classification")
def classification(results: ExperimentResults) -> pd.DataFrame:
    """Scores of single-label predictions by model and group, and of the two references on the evaluated cases."""
    if results.task.multilabel:
        return below_each_other([])
    frames = [to_frame(results.experiment, group.model, _group_scores(results, group)) for group in groups_of(results)]
    return below_each_other([*frames, *_reference_scores(results)])


def _group_scores(results: ExperimentResults, group: Group) -> Iterator[Score]:
    labels, positive = results.task.labels, results.task.positive
    cells = confusion_cells(group.rows, labels)
    bootstrap = CaseBootstrap(group.rows["case_id"], results.seed)
    size = (-1, len(labels), len(labels) + 1)
    counts = cells.sum(axis=0).reshape(size)
    drawn = (bootstrap.weights @ cells).reshape(size)
    yield from _confusion_counts(counts[0], group, labels, positive_of_two(results.task))
    for suffix, strict in (("", False), (INVALID_WRONG, True)):
        values = confusion_metrics(counts, labels, positive, strict)
        draws = confusion_metrics(drawn, labels, positive, strict)
        n = len(group.rows) if strict else int(group.valid.sum())
        for (metric, average, label), value in values.items():
            low, high = percentile_interval(draws[metric, average, label]) if bootstrap.cases > 1 else (np.nan, np.nan)
            name = _group_name(group.name, label)
            yield Score(metric + suffix, float(value[0]), low, high, average, name, n, group.n_invalid)


def _group_name(group: str, label: str) -> str:
    if not label:
        return group
    return f"label={label}" if group == OVERALL else f"{group};label={label}"


def _confusion_counts(counts: Floats, group: Group, labels: tuple[str, ...], positive: str) -> Iterator[Score]:
    """Each cell of the confusion matrix that is not empty, as `confusion:TRUE:PREDICTED`; for two labels tp, fp too."""
    n = len(group.rows)
    for row, true in enumerate(labels):
        for column, predicted in enumerate((*labels, "invalid")):
            if counts[row, column]:
                yield Score(f"confusion:{true}:{predicted}", counts[row, column], group=group.name, n=n)
    if positive:
        hit, miss = labels.index(positive), 1 - labels.index(positive)
        named = {"tp": (hit, hit), "fp": (miss, hit), "fn": (hit, miss), "tn": (miss, miss)}
        for name, cell in named.items():
            yield Score(name, counts[cell], group=group.name, average="binary", n=n, n_invalid=group.n_invalid)


def confusion_cells(rows: pd.DataFrame, labels: tuple[str, ...]) -> Floats:
    """One-hot cells of the confusion matrix, shape (rows, labels * (labels + 1)); the last column is "no answer".

    Raises:
        UserError: a target or a valid prediction is none of the labels.
    """
    code = {label: position for position, label in enumerate(labels)}
    valid = rows["status"] == "valid"
    strangers = rows[~rows["target"].isin(code) | (valid & ~rows["prediction"].isin(code))]
    if len(strangers):
        row = strangers.iloc[0]
        raise UserError(
            f"predictions of {row['experiment']}, {row['model']}, case '{row['case_id']}': prediction "
            f"'{row['prediction']}' and target '{row['target']}', expected labels {', '.join(labels)}. Rebuild them."
        )
    predicted = rows["prediction"].where(valid).map(code).fillna(len(labels)).to_numpy(dtype=int)
    cells = np.zeros((len(rows), len(labels) * (len(labels) + 1)))
    true = rows["target"].map(code).to_numpy(dtype=int)
    cells[np.arange(len(rows)), true * (len(labels) + 1) + predicted] = 1
    return cells


def confusion_metrics(counts: Floats, labels: tuple[str, ...], positive: str, strict: bool) -> Metrics:
    """Every metric of confusion counts of shape (resamples, labels, labels + 1).

    Args:
        counts: true label by predicted label; the last column counts rows without a usable answer.
        labels: the task's labels.
        positive: the label that binary averages call positive, "" for none.
        strict: whether rows without a usable answer count as wrong.
    """
    square = counts[:, :, :-1]
    hits = np.diagonal(square, axis1=1, axis2=2)
    true = (counts if strict else square).sum(axis=2)
    predicted = square.sum(axis=1)
    total = true.sum(axis=1)
    absent = (true + predicted) == 0
    by_label = {
        "precision": np.where(absent, np.nan, ratio(hits, predicted, 0.0)),
        "recall": np.where(absent, np.nan, ratio(hits, true, 0.0)),
        "f1": np.where(absent, np.nan, ratio(2 * hits, true + predicted, 0.0)),
    }
    metrics: Metrics = {("accuracy", "", ""): ratio(hits.sum(axis=1), total)}
    for name, values in by_label.items():
        present = ~np.isnan(values)
        known = np.where(present, values, 0.0)
        metrics[name, "macro", ""] = ratio(known.sum(axis=1), present.sum(axis=1).astype(np.float64))
        metrics[name, "weighted", ""] = ratio((known * true).sum(axis=1), total)
        for position, label in enumerate(labels):
            metrics[name, "binary", label] = values[:, position]
    if positive:
        metrics |= _binary_metrics(square, hits, true, labels.index(positive), strict)
    if not strict:
        metrics |= _chance_corrected(hits, true, predicted, total)
    return metrics


def _binary_metrics(square: Floats, hits: Floats, true: Floats, positive: int, strict: bool) -> Metrics:
    """Metrics of the positive label against the rest; rates that nothing defines are NaN, F1 and its parts 0."""
    hit, actual, predicted = hits[:, positive], true[:, positive], square.sum(axis=1)[:, positive]
    total = true.sum(axis=1)
    negatives = total - actual
    metrics: Metrics = {
        ("precision", "binary", ""): ratio(hit, predicted, 0.0),
        ("recall", "binary", ""): ratio(hit, actual, 0.0),
        ("f1", "binary", ""): ratio(2 * hit, actual + predicted, 0.0),
    }
    for name in metrics:
        metrics[name][total == 0] = np.nan
    if not strict:
        predicted_rate, base_rate = ratio(predicted, total), ratio(actual, total)
        metrics["false_positive_rate", "binary", ""] = ratio(predicted - hit, negatives)
        metrics["predicted_positive_rate", "binary", ""] = predicted_rate
        metrics["base_rate", "binary", ""] = base_rate
        metrics["base_rate_distance", "binary", ""] = predicted_rate - base_rate
    return metrics


def _chance_corrected(hits: Floats, true: Floats, predicted: Floats, total: Floats) -> Metrics:
    """Cohen's kappa and the multi-class Matthews correlation; 0 where truth or predictions are constant."""
    agreed, by_chance = hits.sum(axis=1), (true * predicted).sum(axis=1)
    covariance = agreed * total - by_chance
    spread = np.sqrt((total**2 - (true**2).sum(axis=1)) * (total**2 - (predicted**2).sum(axis=1)))
    metrics: Metrics = {
        ("kappa", "", ""): ratio(covariance, total**2 - by_chance, 0.0),
        ("mcc", "", ""): ratio(covariance, spread, 0.0),
    }
    for values in metrics.values():
        values[total == 0] = np.nan
    return metrics


def _reference_scores(results: ExperimentResults) -> Iterator[pd.DataFrame]:
    """What always naming the sample's most frequent label, and drawing labels at its base rates, would score.

    The coin's counts are expectations, so its accuracy is the sum of the squared base rates.
    """
    labels, positive = results.task.labels, results.task.positive
    evaluated = results.predictions.drop_duplicates("case_id").sort_values("case_id")
    bootstrap = CaseBootstrap(evaluated["case_id"], results.seed)
    truths = np.stack([evaluated["target"] == label for label in labels], axis=1).astype(np.float64)
    majority = int(truths.sum(axis=0).argmax())
    for model in (MAJORITY_CLASS, BASE_RATE_COIN):
        both = []
        for weights in (np.ones((1, len(evaluated))), bootstrap.weights):
            true = weights @ truths
            shares = np.eye(len(labels))[[majority]] if model == MAJORITY_CLASS else true / true.sum(axis=1)[:, None]
            guessed = true[:, :, None] * shares[:, None, :]
            counts = np.concatenate([guessed, np.zeros((*true.shape, 1))], axis=2)
            both.append(confusion_metrics(counts, labels, positive, strict=False))
        values, draws = both
        yield to_frame(
            results.experiment,
            model,
            [
                Score(
                    metric,
                    float(value[0]),
                    *percentile_interval(draws[metric, average, label]),
                    average,
                    _group_name(OVERALL, label),
                    len(evaluated),
                    0,
                )
                for (metric, average, label), value in values.items()
            ],
        )
