"""Scores of answers that may hold several labels: subset accuracy, micro, macro and weighted F1.

Targets and predictions hold their labels joined by ";". Invalid answers are dropped. With the
suffix `_invalid_wrong` they count as predicting nothing.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

from moot.core.cases import MAJORITY_CLASS
from moot.scores import INVALID_WRONG, concat_scores, no_scores, scorer, to_frame
from moot.scores.groups import Group, by_group
from moot.scores.results import ExperimentResults
from moot.scores.score import Score
from moot.stats.arrays import Floats
from moot.stats.classification import averages, occurring_labels, weighted_sums
from moot.stats.statistic import SHARE, Statistic, share_statistic


@scorer("multilabel")
def multilabel(results: ExperimentResults) -> pd.DataFrame:
    """`subset_accuracy` and `f1` (micro, macro, weighted), by model and group.

    The same scores are given for always naming the most frequent set.
    """
    if not results.task.multilabel:
        return no_scores()
    majority = to_frame(
        results.experiment, MAJORITY_CLASS, _group_scores(results, _majority_group(results))
    )
    return concat_scores([by_group(results, _group_scores), majority])


def _majority_group(results: ExperimentResults) -> Group:
    rows = results.predictions.drop_duplicates("case_id").sort_values("case_id")
    most_frequent = str(rows["target"].value_counts().sort_index().idxmax()) if len(rows) else ""
    return Group(MAJORITY_CLASS, "overall", rows.assign(prediction=most_frequent, status="valid"))


def _group_scores(results: ExperimentResults, group: Group) -> Iterator[Score]:
    for suffix, rows in (("", group.rows[group.valid]), (INVALID_WRONG, group.rows)):
        sample = results.sample(rows["case_id"])
        for (metric, average), statistic in multilabel_statistics(rows).items():
            yield sample.score(metric + suffix, statistic, group.name, average, group.n_invalid)


def multilabel_statistics(rows: pd.DataFrame) -> dict[tuple[str, str], Statistic]:
    """Return the statistic of each (metric, average).

    Macro averages are over the labels that are true or predicted in the sample.
    """
    targets = [frozenset(text.split(";")) - {""} for text in rows["target"]]
    answers = [
        frozenset(text.split(";")) - {""} if status == "valid" else frozenset[str]()
        for text, status in zip(rows["prediction"], rows["status"], strict=True)
    ]
    labels = sorted(frozenset().union(*targets, *answers))
    truth, assigned = _indicators(targets, labels), _indicators(answers, labels)
    occurs = occurring_labels(truth, assigned)
    is_equal = (truth == assigned).all(axis=1) & (rows["status"] == "valid").to_numpy()

    def f1(average: str) -> Statistic:
        return Statistic(
            lambda w: averages(weighted_sums(truth, assigned, w), (), occurs)["f1", average, ""],
            SHARE,
        )

    return {
        ("subset_accuracy", ""): share_statistic(is_equal),
        ("f1", "micro"): f1("micro"),
        ("f1", "macro"): f1("macro"),
        ("f1", "weighted"): f1("weighted"),
    }


def _indicators(sets: list[frozenset[str]], labels: list[str]) -> Floats:
    """Return which row has which label, shape (rows, labels)."""
    rows = [label in row_labels for row_labels, label in product(sets, labels)]
    return np.asarray(rows, dtype=np.float64).reshape(len(sets), len(labels))
