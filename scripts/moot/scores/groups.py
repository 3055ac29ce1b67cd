"""Predictions and the groups among them, from which all scores start."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.core.cases import Task, positive_of_two
from moot.core.confidence import number_of_choices, probability_of_stated_confidence
from moot.scores import scores_by_model
from moot.scores.results import ExperimentResults
from moot.scores.score import OVERALL, Score
from moot.stats.arrays import Floats

MIN_VALUES, MAX_VALUES = 2, 12
"""An attribute with more values (a topic, a docket number) is not a group to compare."""

UNDECIDED_SCORE = 0.5
"""The probability of the positive of two labels that favours neither."""


@dataclass(frozen=True)
class Group:
    """Some rows of one model's predictions.

    Attributes:
        model: the model that made the predictions.
        name: "overall", "retries=0", or "attribute=value".
        rows: the predictions, invalid ones too.
    """

    model: str
    name: str
    rows: pd.DataFrame

    @cached_property
    def valid(self) -> NDArray[np.bool_]:
        """Which rows have a usable answer, shape (rows,)."""
        return np.asarray(self.rows["status"] == "valid")

    @cached_property
    def undecided(self) -> NDArray[np.bool_]:
        """Which rows name no label because the stated beliefs favour none, shape (rows,)."""
        return find_undecided(self.rows)

    @cached_property
    def n_invalid(self) -> int:
        """The number of rows without a usable answer."""
        return int((~self.valid).sum())


def prediction_groups(results: ExperimentResults) -> Iterator[Group]:
    """Yield the groups of each model's predictions.

    The groups are all predictions, debates without retries, and each value of each attribute, judge
    and persona.

    An attribute with fewer than `MIN_VALUES` or more than `MAX_VALUES` values among the
    evaluated cases forms no groups.
    """
    predictions = results.predictions
    attributes = _attributes(results, predictions)
    for model in results.config.models:
        is_model = (predictions["model"] == model).to_numpy()
        rows = predictions[is_model].sort_values(["case_id", "repeat"], kind="stable")
        yield Group(model, OVERALL, rows)
        without_retries = rows[rows["retries"] == 0]
        if 0 < len(without_retries) < len(rows):
            yield Group(model, "retries=0", without_retries)
        by_case = {name: rows["case_id"].map(attributes[name]) for name in attributes.columns}
        judged = {
            name: rows[name]
            for name in ("judge", "persona")
            if name in rows and _worth_grouping_by(rows[name])
        }
        for attribute, values in (by_case | judged).items():
            for value in sorted(values.dropna().unique()):
                yield Group(model, f"{attribute}={value}", rows[values == value])


def by_group(
    results: ExperimentResults, scores_of: Callable[[ExperimentResults, Group], Iterable[Score]]
) -> pd.DataFrame:
    """Return the scores of each group of predictions in one frame."""
    group_scores = (
        (group.model, scores_of(results, group)) for group in prediction_groups(results)
    )
    return scores_by_model(results.experiment, group_scores)


def _attributes(results: ExperimentResults, predictions: pd.DataFrame) -> pd.DataFrame:
    """Return the attributes suitable for grouping, one column each, indexed by case_id."""
    evaluated = sorted(predictions["case_id"].unique())
    if not evaluated:
        return pd.DataFrame()
    frame = pd.DataFrame(results.attributes.loc[evaluated].tolist(), index=evaluated)
    return frame[[name for name in sorted(frame.columns) if _worth_grouping_by(frame[name])]]


def _worth_grouping_by(values: pd.Series) -> bool:
    return MIN_VALUES <= values.nunique() <= MAX_VALUES


def find_undecided(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which predictions name no label but state a probability of one half, shape (rows,).

    Their probabilities count in Brier scores, since one half is a belief.
    """
    is_half = rows["score"].to_numpy(dtype=np.float64) == UNDECIDED_SCORE
    return np.asarray((rows["status"] == "invalid") & is_half)


def probability_of_prediction(rows: pd.DataFrame, task: Task) -> Floats:
    """Return each row's probability of its prediction, 0 to 1, shape (rows,).

    It is the predicted `probability`. If that is missing, it follows from the `score` of the
    positive of two labels, or else from the stated confidence, as in `moot.core.confidence`. It is
    NaN if the row states none of them.
    """
    probability = rows["probability"].to_numpy(dtype=np.float64)
    if positive := positive_of_two(task):
        score = rows["score"].to_numpy(dtype=np.float64)
        probability = np.where(
            np.isnan(probability),
            np.where(rows["prediction"] == positive, score, 1 - score),
            probability,
        )
    from_confidence = probability_of_stated_confidence(
        rows["confidence"].to_numpy(dtype=np.float64), number_of_choices(task)
    )
    return np.where(np.isnan(probability), from_confidence, probability)


def probability_of_positive(rows: pd.DataFrame, task: Task) -> Floats:
    """Return each row's probability of the positive of two labels, shape (rows,).

    See `probability_of_prediction`.
    """
    predicted = probability_of_prediction(rows, task)
    return np.where(rows["prediction"] == positive_of_two(task), predicted, 1 - predicted)
