"""A hundred made-up cases with typed features, and how leaderboards over them are read."""

from typing import Any

import numpy as np
import pandas as pd

from moot.core.cases import Case, Task
from moot.training.examples import Examples, examples

TASK = Task("the person", "Will it happen?", ("no", "yes"), "yes")
SPLITS = ["train"] * 60 + ["validation"] * 20 + ["test"] * 20


def make_examples(targets: list[str] | None = None, task: Task = TASK) -> Examples:
    """Return a hundred cases with informative features and with gaps in every kind of column."""
    random = np.random.default_rng(5)
    targets = targets or ["yes" if chance < 0.3 else "no" for chance in random.random(100)]
    cases = [
        Case(
            f"c{i:03}",
            "made-up",
            split_name,
            f"text {i % 7} {target[:1] * (i % 3)}",
            target,
            task.labels,
        )
        for i, (split_name, target) in enumerate(zip(SPLITS, targets, strict=True))
    ]
    signal = np.array(
        [task.labels.index(target.split(";")[0]) for target in targets]
    ) + random.normal(0, 1, 100)
    features = pd.DataFrame(
        {
            "case_id": [case.case_id for case in cases],
            "split": SPLITS,
            "label": targets,
            "arrests": pd.array(
                [None if i % 9 == 0 else round(10 * x) for i, x in enumerate(signal)], dtype="Int64"
            ),
            "victim": pd.array(
                [None if i % 11 == 0 else i % 2 == 0 for i in range(100)], dtype="boolean"
            ),
            "race": pd.Categorical([None if i % 13 == 0 else "abc"[i % 3] for i in range(100)]),
        }
    )
    return examples(cases, task, features)


def without_times(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns="fit_seconds")


def leaderboard_row(leaderboard: pd.DataFrame, name: str, evaluation: str) -> "pd.Series[Any]":
    [(_, row)] = leaderboard[
        (leaderboard.baseline == name) & (leaderboard.evaluation == evaluation)
    ].iterrows()
    return row
