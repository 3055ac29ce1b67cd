"""Likelihood answers: the label whose word has the highest log-probability, and their calibration.

A server lists only the most probable tokens. A label's word that is not listed is censored: its
probability is not zero, but at most the probability of the last listed token. It gets half of this
maximum, the mean of all possible values, so that it stays below every listed word. All numbers that
this module returns are finite.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from moot.core.cases import Task

MIN_LOGPROB = -30.0
"""A lower limit for log-probabilities, which rounding or a server's "never" may make smaller
still.
"""
_MIN_SHARE = 1e-9
_EVEN_ODDS = 0.5


def label_shares(logprobs: Mapping[str, float]) -> dict[str, float]:
    """Convert log-probabilities of labels to shares that add up to 1."""
    highest = max(logprobs.values())
    weights = {label: math.exp(logprob - highest) for label, logprob in logprobs.items()}
    return {label: weight / sum(weights.values()) for label, weight in weights.items()}


def log_shares(shares: Mapping[str, float]) -> dict[str, float]:
    """Convert shares to log-probabilities; a share of zero becomes a very small one."""
    return {label: math.log(max(share, _MIN_SHARE)) for label, share in shares.items()}


def complete_logprobs(
    logprobs: Mapping[str, float], words: Collection[str], unlisted: float | None = None
) -> dict[str, float] | None:
    """Return the log-probabilities of all words, although a server may have listed only some.

    A word that is not listed gets half of its maximum. This is the smallest of three
    probabilities: of the last listed token, of the least probable listed word, and the remainder.

    Args:
        logprobs: word to log-probability; words that are missing or not finite were not listed.
        unlisted: the log-probability of the last listed token; None if unknown.

    Returns:
        The finite log-probability of each word; None if no word was listed.
    """
    listed_logprobs = {
        word: logprobs[word] for word in words if math.isfinite(logprobs.get(word, math.nan))
    }
    if not listed_logprobs:
        return None
    unlisted_share = 1 - sum(map(math.exp, listed_logprobs.values()))
    max_logprob = min(
        max(math.log(unlisted_share), MIN_LOGPROB) if unlisted_share > 0 else MIN_LOGPROB,
        *listed_logprobs.values(),
    )
    if unlisted is not None and math.isfinite(unlisted):
        max_logprob = min(max_logprob, max(unlisted, MIN_LOGPROB))
    return {word: listed_logprobs.get(word, max_logprob - math.log(2)) for word in words}


def subtract_prior(logprobs: Mapping[str, float], prior: Mapping[str, float]) -> dict[str, float]:
    """Subtract the log-probabilities after a prompt without content.

    Source: Zhao et al. 2021, "Calibrate Before Use".
    """
    return {label: value - prior[label] for label, value in logprobs.items()}


def contextual_offsets(
    logprobs: Sequence[Mapping[str, float]], targets: Sequence[str]
) -> dict[str, float]:
    """Return offsets to labels' log-probabilities that remove a model's prior preference.

    The mean log-probability over validation cases replaces the prompt without content (Zhao et al.
    2021). The new prior is the validation cases' label shares, with one added to each count.
    """
    labels = list(logprobs[0])
    counts = {label: targets.count(label) + 1 for label in labels}
    total = sum(counts.values())
    offsets = {}
    for label in labels:
        mean = float(np.mean([values[label] for values in logprobs]))
        offsets[label] = math.log(counts[label] / total) - mean
    return offsets


def find_best_threshold(scores: Sequence[float], positive: Sequence[bool]) -> float:
    """Return the threshold on the positive label's probability with the best macro F1.

    Of equally good ones it is the nearest to 0.5.

    A label that is neither true nor predicted does not count, as in scikit-learn.
    """
    ordered = sorted(set(scores))
    candidates = np.array([_EVEN_ODDS, *((low + high) / 2 for low, high in pairwise(ordered))])
    values, truth = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    order = np.argsort(values, kind="stable")
    # the number of cases that are predicted negative
    negative_counts = np.searchsorted(values[order], candidates)
    # positive cases among them
    missed_counts = np.concatenate([[0], np.cumsum(truth[order])])[negative_counts]
    hits, predicted, true = truth.sum() - missed_counts, len(truth) - negative_counts, truth.sum()
    sums = [
        (hits, predicted + true),
        (negative_counts - missed_counts, negative_counts + len(truth) - true),
    ]
    f1 = np.array(
        [
            np.divide(2 * correct, size, out=np.zeros(len(size)), where=size > 0)
            for correct, size in sums
        ]
    )
    quality = f1.sum(axis=0) / sum((size > 0).astype(int) for _, size in sums)
    best_index = np.lexsort((np.abs(candidates - _EVEN_ODDS), -quality))[0]
    return float(candidates[best_index])


def calibrate(
    conclusions: pd.DataFrame, splits: Mapping[str, str], targets: Mapping[str, str], task: Task
) -> pd.DataFrame:
    """Replace likelihood answers by calibrated ones, fitted on their validation cases.

    Args:
        conclusions: case_id, prediction, confidence, score, logprobs (label to log-probability,
            or None), one row a debate.

    Returns:
        The same rows; without validation cases or without log-probabilities they are unchanged,
        and so is a row whose log-probabilities are not all finite.
    """
    has_logprobs = conclusions["logprobs"].map(_are_finite).astype(bool)
    validation = has_logprobs & (conclusions["case_id"].map(splits.get) == "validation")
    if not validation.any():
        return conclusions
    fitting = conclusions[validation]
    truth = [targets[case_id] for case_id in fitting["case_id"]]
    offsets = contextual_offsets(list(fitting["logprobs"]), truth)

    def corrected_shares(logprobs: Any) -> dict[str, float]:
        return label_shares({label: value + offsets[label] for label, value in logprobs.items()})

    shares = conclusions.loc[has_logprobs, "logprobs"].map(corrected_shares)
    threshold = _EVEN_ODDS
    if task.positive and len(task.labels) == 2:  # a threshold needs two labels
        scores = [share[task.positive] for share in shares[fitting.index]]
        threshold = find_best_threshold(scores, [label == task.positive for label in truth])
    result = conclusions.copy()
    predictions = [_choose_label(share, task, threshold) for share in shares]
    answer_shares = np.array(
        [share[label] for share, label in zip(shares, predictions, strict=True)]
    )
    result.loc[has_logprobs, "prediction"] = predictions
    result.loc[has_logprobs, "confidence"] = 100 * answer_shares.clip(_MIN_SHARE)
    result.loc[has_logprobs, "probability"] = answer_shares
    result.loc[has_logprobs, "score"] = [share.get(task.positive, math.nan) for share in shares]
    return result


def _are_finite(logprobs: Mapping[str, float] | None) -> bool:
    return logprobs is not None and all(map(math.isfinite, logprobs.values()))


def _choose_label(share: Mapping[str, float], task: Task, threshold: float) -> str:
    if task.positive and len(task.labels) == 2:
        negative_label = next(label for label in task.labels if label != task.positive)
        return task.positive if share[task.positive] >= threshold else negative_label
    return max(share, key=lambda label: share[label])
