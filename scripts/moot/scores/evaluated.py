"""What every family of scores starts from: predictions, and the groups among them by the attributes of their cases."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.cases import Task
from moot.scores import OVERALL, ExperimentResults
from moot.stats.bootstrap import Floats

FEWEST_VALUES, MOST_VALUES = 2, 12  # an attribute with more values (a topic, a docket number) is no group to compare


@dataclass(frozen=True)
class Group:
    """Some rows of one model's predictions.

    Attributes:
        model: whose predictions.
        name: "overall", "retries=0", or "attribute=value".
        rows: the predictions, invalid ones too.
    """

    model: str
    name: str
    rows: pd.DataFrame

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Which rows have a usable answer, shape (rows,)."""
        return np.asarray(self.rows["status"] == "valid")

    @property
    def n_invalid(self) -> int:
        """How many rows have none."""
        return int((~self.valid).sum())


def groups_of(results: ExperimentResults) -> Iterator[Group]:
    """Each model's predictions: all, those of debates without retries, and those of each value of each attribute.

    Attributes with fewer than `FEWEST_VALUES` or more than `MOST_VALUES` values among the evaluated cases form none.
    """
    predictions = results.predictions
    attributes = _attributes(results, predictions)
    for model in results.config.models:
        mine = (predictions["model"] == model).to_numpy()
        rows = predictions[mine].sort_values(["case_id", "repeat"], kind="stable")
        yield Group(model, OVERALL, rows)
        untroubled = rows[rows["retries"] == 0]
        if 0 < len(untroubled) < len(rows):
            yield Group(model, "retries=0", untroubled)
        for attribute in attributes.columns:
            values = rows["case_id"].map(attributes[attribute])
            for value in sorted(values.dropna().unique()):
                yield Group(model, f"{attribute}={value}", rows[values == value])


def _attributes(results: ExperimentResults, predictions: pd.DataFrame) -> pd.DataFrame:
    """The attributes worth grouping by, one column each, indexed by case_id."""
    by_case = results.cases.set_index("case_id")["attributes"]
    evaluated = sorted(predictions["case_id"].unique())
    if not evaluated:
        return pd.DataFrame()
    frame = pd.DataFrame(by_case.loc[evaluated].tolist(), index=evaluated)
    kept = [name for name in sorted(frame.columns) if FEWEST_VALUES <= frame[name].nunique() <= MOST_VALUES]
    return frame[kept]


def positive_of_two(task: Task) -> str:
    """The positive label of a task with two labels, "" for any other task."""
    others = set(task.labels) - {task.positive}
    return task.positive if len(others) == 1 and not task.multilabel else ""


def probability_of_positive(rows: pd.DataFrame, positive: str) -> Floats:
    """Each row's probability of the positive label, shape (rows,).

    It is the predicted `score`; where there is none it follows from the stated confidence in the prediction (0-100),
    as 1 - confidence where the prediction is the negative label. NaN where the row states neither.
    """
    confidence = rows["confidence"].to_numpy(dtype=np.float64) / 100
    stated = np.where(rows["prediction"] == positive, confidence, 1 - confidence)
    score = rows["score"].to_numpy(dtype=np.float64)
    return np.where(np.isnan(score), stated, score)


def confidence_in_prediction(rows: pd.DataFrame, positive: str) -> Floats:
    """Each row's confidence in what it predicts, 0 to 1, shape (rows,): as stated, or else from the score."""
    stated = rows["confidence"].to_numpy(dtype=np.float64) / 100
    score = rows["score"].to_numpy(dtype=np.float64)
    implied = np.where(rows["prediction"] == positive, score, 1 - score) if positive else np.full(len(rows), np.nan)
    return np.where(np.isnan(stated), implied, stated)
