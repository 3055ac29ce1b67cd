"""The conversion of a stated confidence to a probability, the same everywhere.

Prompts ask for an answer and how sure the model is of it, from 0 (a guess) to 100 (certain).
Therefore, with k labels, an answer with confidence c has the probability 1/k + (1 - 1/k) c/100, and
the other labels share the rest. An answer never counts against itself: "NO, 40 %" is not P(yes) =
60 %. docs/results.md discusses the alternatives. `confidence_scale: 1` in a model's entry is for a
model that nevertheless answers from 0 to 1.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from moot.core.cases import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Share = TypeVar("Share", float, "NDArray[np.float64]")


def probability_of_stated_confidence(confidence: Share, labels: int) -> Share:
    """Return the probability of an answer that is stated with a confidence.

    Args:
        confidence: 0 to 100; NaN stays NaN.
        labels: the number of labels to choose from, at least two.

    >>> probability_of_stated_confidence(40.0, 2)
    0.7
    """
    return 1 / labels + (1 - 1 / labels) * confidence / 100


def scaled_confidence(number: float, scale: int, *, is_percentage: bool) -> float | None:
    """Convert a stated number to a confidence from 0 to 100.

    None if it contradicts the model's scale.

    Args:
        number: as stated.
        scale: `confidence_scale` of the model, 1 or 100.
        is_percentage: whether the words name the scale, as "80 %" and "80 out of 100" do.

    >>> scaled_confidence(0.8, 1, is_percentage=False)
    80.0
    """
    if scale == 1 and not is_percentage:
        return 100 * number if 0 <= number <= 1 else None
    return number if 0 <= number <= 100 else None


def number_of_choices(task: Task) -> int:
    """Return the number of labels that an answer chooses from.

    If a case may have several labels, each is a choice between two.
    """
    return 2 if task.multilabel else len(task.labels)


def stated_probabilities(
    task: Task, answers: Iterable[str], confidence: float | None
) -> dict[str, float]:
    """Return the probability of every label from a stated answer and its confidence.

    Args:
        task: the task with its labels. If a case may have several labels, each is treated
            separately.
        confidence: the stated confidence, 0 to 100. Without one (None), the result is 1 for the
            named labels and 0 for the others. This is not a probability and must not be used for
            calibration.
    """
    answer_set = set(answers)
    answer_probability = (
        1.0
        if confidence is None
        else probability_of_stated_confidence(confidence, number_of_choices(task))
    )
    rest_probability = (1 - answer_probability) / (number_of_choices(task) - 1)
    return {
        label: answer_probability if label in answer_set else rest_probability
        for label in task.labels
    }
