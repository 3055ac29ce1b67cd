"""Artifacts as inputs and targets of scikit-learn estimators."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from moot.core.cases import Case, Task, cluster_name, positive_of_two, resembles_test_case
from moot.core.errors import UserError
from moot.training.baselines import Baseline


@dataclass(frozen=True, slots=True)
class Examples:
    """The data for training and evaluation of baselines, one row per case in the data set's order.

    Attributes:
        task: its description; the labels' order gives the columns of every matrix.
        cases: columns case_id, split, target, cluster (as `Task.cluster_name`).
        texts: column `text`, and one string column for each attribute of the cases.
        features: one typed column per feature; None if the data set has no features.
        left_out: the number of training cases that are left out because they resemble a test case.
    """

    dataset: str
    task: Task
    cases: pd.DataFrame
    texts: pd.DataFrame
    features: pd.DataFrame | None = None
    left_out: int = 0

    def inputs(self, entry: Baseline) -> pd.DataFrame:
        """Return the inputs from which `entry` learns."""
        if entry.kind == "text" or (entry.kind == "any" and self.features is None):
            return self.texts
        if self.features is None:
            raise UserError(
                f"data set '{self.dataset}': baseline '{entry.name}' needs typed features, and "
                "this data set has only texts. Ask for the family 'text' instead."
            )
        return self.features

    @property
    def truth(self) -> NDArray[np.float64]:
        """Whether a case has a label (1 or 0), shape (cases, labels)."""
        rows = []
        for target in self.cases["target"]:
            labels = target.split(";") if self.task.multilabel else [target]
            rows.append([float(label in labels) for label in self.task.labels])
        return np.array(rows)

    @property
    def positive(self) -> int | None:
        """The column of the positive label, if there are two labels."""
        positive = positive_of_two(self.task)
        return self.task.labels.index(positive) if positive else None


def examples(cases: Sequence[Case], task: Task, features: pd.DataFrame | None = None) -> Examples:
    """Convert a data set's artifacts to examples, without training cases that leak.

    Args:
        features: the features artifact (case_id, split, label, then features), or None.

    Raises:
        UserError: no usable training case, or no test case; a case without features; an unknown
            target.
    """
    dataset = cases[0].dataset if cases else ""
    left_out = sum(case.split == "train" and resembles_test_case(case) for case in cases)
    cases = [case for case in cases if not resembles_test_case(case)]
    for split_name in ("train", "test"):
        if not any(case.split == split_name for case in cases):
            raise UserError(
                f"data set '{dataset}': the {split_name} split has no case (left out as"
                f" near-duplicates of test cases: {left_out}); baselines need some. Check its"
                " split."
            )
    for case in cases:
        labels = case.target.split(";") if task.multilabel else [case.target]
        if unknown_labels := [label for label in labels if label and label not in task.labels]:
            raise UserError(
                f"data set '{dataset}', case {case.case_id}: target '{unknown_labels[0]}',"
                f" expected one of {', '.join(task.labels)}. Correct the source."
            )
    table = pd.DataFrame(
        [
            {
                "case_id": c.case_id,
                "split": c.split,
                "target": c.target,
                "cluster": cluster_name(c, task),
            }
            for c in cases
        ]
    )
    texts = pd.DataFrame([{**c.attributes, "text": c.text} for c in cases])
    if features is not None:
        missing = sorted(set(table["case_id"]) - set(features["case_id"]))
        if missing:
            raise UserError(
                f"data set '{dataset}': case {missing[0]} has no row in its features. Rebuild both"
                " artifacts."
            )
        features = features.set_index("case_id").loc[table["case_id"]].reset_index(drop=True)
        features = plain_features(features.drop(columns=["split", "label"]))
    return Examples(dataset, task, table, texts, features, left_out)


def plain_features(features: pd.DataFrame) -> pd.DataFrame:
    """Convert typed columns for models.

    Numbers become float64, truth values and categories text, and missing values NaN.
    """
    plain = {}
    for name, column in features.items():
        is_number = is_numeric_dtype(column) and not is_bool_dtype(column)
        typed = (
            column.astype("float64") if is_number else column.astype("object").map(str, "ignore")
        )
        plain[name] = typed.where(typed.notna(), np.nan)
    return pd.DataFrame(plain)
