"""The judge's probabilities of Debate-Feedback: a probability for each label, smoothed from round to round.

With one label to a case the probabilities add up to 1. With several labels each stands for itself, and the same
arithmetic holds for each (the paper writes it for two labels only).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from moot.core.cases import Task

Probabilities = Mapping[str, float]
Rule = Literal["mean", "any", "all"]

EVEN = 0.5


def smoothed(previous: Probabilities, latest: Probabilities, weight: float) -> dict[str, float]:
    """O_i = (1 - T) O_{i-1} + T LM, label by label (Debate-Feedback, Equation 1); `weight` is T.

    >>> smoothed({"yes": 0.5}, {"yes": 1.0}, 0.5)
    {'yes': 0.75}
    """
    return {label: (1 - weight) * previous[label] + weight * latest[label] for label in previous}


def threshold_met(reliabilities: Sequence[float], threshold: float, rule: Rule = "mean") -> bool:
    """Threshold(v) of Algorithm 1, which the paper leaves open: the mean (or any, or every) reliability reaches it.

    Without reliabilities (no assistant, or nobody spoke) nothing speaks against the debate, so it is met.
    """
    if not reliabilities:
        return True
    if rule == "mean":
        return sum(reliabilities) / len(reliabilities) >= threshold
    return (any if rule == "any" else all)(value >= threshold for value in reliabilities)


def next_probabilities(
    first: Probabilities, previous: Probabilities, latest: Probabilities, met: bool, weight: float
) -> dict[str, float]:
    """One turn of Algorithm 1's loop: smoothed where the threshold is met, else back to the judge's own O_0 = LM(x)."""
    return smoothed(previous, latest, weight) if met else dict(first)


def replay(first: Probabilities, rounds: Iterable[tuple[Probabilities, bool]], weight: float) -> dict[str, float]:
    """O_n from what the judge said in each round (LM's probabilities, threshold met), for any T, without a new call."""
    current = dict(first)
    for latest, met in rounds:
        current = next_probabilities(first, current, latest, met, weight)
    return current


def decided(probabilities: Probabilities, task: Task, threshold: float = EVEN) -> str:
    """The decision: with two labels the positive one from `threshold` on, with more the likeliest, with several labels
    every one from `threshold` on, and the likeliest if there is none. A tie goes to the label that the task names last.
    """
    likeliest = max(task.labels, key=lambda label: (probabilities[label], task.labels.index(label)))
    if task.multilabel:
        return ";".join(sorted(label for label in task.labels if probabilities[label] >= threshold)) or likeliest
    others = [label for label in task.labels if label != task.positive]
    if task.positive and len(others) == 1:
        return task.positive if probabilities[task.positive] >= threshold else others[0]
    return likeliest
