"""What a stated confidence says as a probability: one rule, wherever the one is made into the
other.

Prompts ask for an answer and how sure the model is of it, from 0 (a guess) to 100 (certain). So
with k labels an answer with confidence c has the probability 1/k + (1 - 1/k) c/100, and the other
labels share the rest. An answer never counts against itself: "NO, 40 %" is not P(yes) = 60 %.
docs/results.md says what else was weighed. Whether a model keeps to that scale or answers from 0 to
1 is decided by `moot.protocols.confidence_scales`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from moot.core.cases import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONFIDENCE_SHARE = "confidence_share"
"""Where `parsed` keeps a confidence as it was written, if it may be a share of 1: above 0, and at
most 1.
"""

Share = TypeVar("Share", float, "NDArray[np.float64]")


def probability_of_stated_confidence(confidence: Share, labels: int) -> Share:
    """The probability of an answer that is stated with a confidence.

    Args:
        confidence: 0 to 100; NaN stays NaN.
        labels: how many there are to choose from, at least two.

    >>> probability_of_stated_confidence(40.0, 2)
    0.7
    """
    return 1 / labels + (1 - 1 / labels) * confidence / 100


def number_of_choices(task: Task) -> int:
    """How many labels an answer chooses from; where a case has several labels, each of them is
    there or not.
    """
    return 2 if task.multilabel else len(task.labels)


def stated_probabilities(
    task: Task, named: Iterable[str], confidence: float | None
) -> dict[str, float]:
    """The probability of every label, by a stated answer and its confidence.

    Args:
        task: what the labels are. With several labels to a case each is taken by itself.
        confidence: stated, 0 to 100. None where none was: the answer itself, 1 for what it names
            and 0 for the rest, which is no probability and must not enter a calibration.
    """
    chosen = set(named)
    high = (
        1.0
        if confidence is None
        else probability_of_stated_confidence(confidence, number_of_choices(task))
    )
    low = (1 - high) / (number_of_choices(task) - 1)
    return {label: high if label in chosen else low for label in task.labels}
