"""The judge's probabilities of labels in Debate-Feedback, smoothed from round to round.

If a case has one label, the probabilities add up to 1. If it has several, each label has its own
probability, and the same arithmetic holds for each (the paper writes it for two labels only).

The latest answer decides a tie. An answer with confidence 0 leaves all labels equally probable, as
do two contradicting answers of equal confidence, so that the order of labels in the task does not
matter.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from moot.core.cases import Task
from moot.core.types import Fields

Probabilities = Mapping[str, float]

TOKEN_PROBABILITIES = "token probabilities"  # noqa: S105 - no password
STATED_CONFIDENCE = "stated confidence"
LABEL_ALONE = "label alone"
EVEN = 0.5
_TOLERANCE = 1e-9  # of probabilities that count as equal


def smooth(previous: Probabilities, latest: Probabilities, weight: float) -> dict[str, float]:
    """Return O_i = (1 - T) O_{i-1} + T LM, label by label; `weight` is T.

    Source: Debate-Feedback, Equation 1.

    >>> smooth({"yes": 0.5}, {"yes": 1.0}, 0.5)
    {'yes': 0.75}
    """
    return {label: (1 - weight) * previous[label] + weight * latest[label] for label in previous}


def is_threshold_met(reliabilities: Sequence[float], threshold: float) -> bool:
    """Return whether the mean reliability reaches a threshold.

    This is Threshold(v) of Algorithm 1, which the paper does not define. Without reliabilities (no
    assistant, or no seat spoke) the threshold is met.
    """
    return not reliabilities or sum(reliabilities) / len(reliabilities) >= threshold


@dataclass(frozen=True, slots=True)
class Outlook:
    """O_i: a probability for each label, and the judge's answers behind it, the latest first."""

    probabilities: Probabilities
    answers: tuple[str, ...]


def next_outlook(
    first: Outlook, previous: Outlook, latest: Outlook, met: bool, weight: float
) -> Outlook:
    """Return the outlook after one turn of Algorithm 1's loop.

    It is smoothed if the threshold is met, and otherwise the judge's own O_0 = LM(x).
    """
    if not met:
        return first
    answers = (*(latest.answers if weight > 0 else ()), *(previous.answers if weight < 1 else ()))
    return Outlook(smooth(previous.probabilities, latest.probabilities, weight), answers)


def replay(first: Outlook, rounds: Iterable[tuple[Outlook, bool]], weight: float) -> Outlook:
    """Return O_n for any T from each round's outlook and whether the threshold was met.

    No new call is needed.
    """
    current = first
    for latest, met in rounds:
        current = next_outlook(first, current, latest, met, weight)
    return current


def likeliest_answer(probabilities: Probabilities, task: Task) -> str:
    """Return the answer by token probabilities: the likeliest label.

    In a task with several labels it is all labels above one half, or else the likeliest. Of equally
    likely labels it is the first of the task.
    """
    likely_labels = sorted(label for label in task.labels if probabilities[label] > EVEN)
    if task.multilabel and likely_labels:
        return ";".join(likely_labels)
    return max(task.labels, key=lambda label: probabilities[label])


def decide(outlook: Outlook, task: Task) -> str:
    """Return the decision: the likeliest label.

    In a task with several labels it is all labels above one half, or else the likeliest. The
    judge's latest answer that names one of the labels decides between equal probabilities.
    """
    probabilities = outlook.probabilities
    if task.multilabel:
        likely_labels = {label for label in task.labels if probabilities[label] > EVEN + _TOLERANCE}
        even_labels = {
            label for label in task.labels if abs(probabilities[label] - EVEN) <= _TOLERANCE
        }
        if labels := likely_labels | (even_labels & set(outlook.answers[0].split(";"))):
            return ";".join(sorted(labels))
    highest = max(probabilities.values())
    tied_labels = [
        label
        for label in task.labels
        if math.isclose(probabilities[label], highest, abs_tol=_TOLERANCE)
    ]
    for answer in outlook.answers:
        for label in tied_labels:
            if label in answer.split(";"):
                return label
    return tied_labels[0]


def recorded_outlook(step: Fields) -> Outlook:
    """Return the judge's outlook in one step, from `parsed` of its row of kind `smoothed`."""
    return Outlook(step["latest"], (step["answer"],))


def final_answer(
    outlook: Outlook, steps: Iterable[Fields], task: Task
) -> tuple[str, float | None, float | None]:
    """Return the decision from O_n, its confidence, and the positive label's probability.

    The confidence is from 0 to 100. If one of the recorded `steps` has an answer without a
    probability, the decision stands alone.
    """
    prediction = decide(outlook, task)
    if any(step["probability"] == LABEL_ALONE for step in steps):
        return prediction, None, None
    labels = prediction.split(";") if task.multilabel else [prediction]
    confidence = 100 * sum(outlook.probabilities[label] for label in labels) / len(labels)
    return prediction, confidence, outlook.probabilities.get(task.positive)
