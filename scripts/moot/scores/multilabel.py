"""Scores of answers that may hold several labels: subset accuracy, micro and macro F1.

Targets and predictions hold their labels joined by ";". Invalid answers are dropped, or (`_invalid_wrong`) predict
nothing.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.scores import (
    INVALID_WRONG,
    MAJORITY_CLASS,
    ExperimentResults,
    Score,
    below_each_other,
    scorer,
    to_frame,
)
from moot.scores.evaluated import Group, groups_of
from moot.scores.uncertainty import CaseBootstrap, Floats, Statistic, mean_of, ratio


@scorer("multilabel")
def multilabel(results: ExperimentResults) -> pd.DataFrame:
    """Multi-label scores by model and group, and of always naming the sample's most frequent set of labels."""
    if not results.task.multilabel:
        return below_each_other([])
    groups = [*groups_of(results), _majority_group(results)]
    return below_each_other(
        to_frame(results.experiment, group.model, _group_scores(results, group)) for group in groups
    )


def _majority_group(results: ExperimentResults) -> Group:
    rows = results.predictions.drop_duplicates("case_id").sort_values("case_id")
    most_frequent = str(rows["target"].value_counts().sort_index().idxmax()) if len(rows) else ""
    return Group(MAJORITY_CLASS, "overall", rows.assign(prediction=most_frequent, status="valid"))


def _group_scores(results: ExperimentResults, group: Group) -> Iterator[Score]:
    for suffix, rows in (("", group.rows[group.valid]), (INVALID_WRONG, group.rows)):
        bootstrap = CaseBootstrap(rows["case_id"], results.seed)
        for (metric, average), statistic in multilabel_statistics(rows).items():
            estimate = bootstrap.estimate(statistic)
            yield Score(metric + suffix, *estimate, average, group.name, len(rows), group.n_invalid)


def multilabel_statistics(rows: pd.DataFrame) -> dict[tuple[str, str], Statistic]:
    """(metric, average) to its statistic; macro averages run over the labels that are true or predicted somewhere."""
    targets = [frozenset(text.split(";")) - {""} for text in rows["target"]]
    answers = [
        frozenset(text.split(";")) - {""} if status == "valid" else frozenset[str]()
        for text, status in zip(rows["prediction"], rows["status"], strict=True)
    ]
    answered = (rows["status"] == "valid").to_numpy()
    same = [
        bool(usable) and target == answer for target, answer, usable in zip(targets, answers, answered, strict=True)
    ]
    labels = sorted(frozenset().union(*targets, *answers))
    true, predicted = _indicators(targets, labels), _indicators(answers, labels)
    hits = true * predicted

    def f1_micro(weights: Floats) -> Floats:
        return ratio(2 * (weights @ hits).sum(axis=1), (weights @ (true + predicted)).sum(axis=1), 0.0)

    def f1_macro(weights: Floats) -> Floats:
        size = weights @ (true + predicted)
        present = (size > 0).sum(axis=1).astype(np.float64)
        return ratio(ratio(2 * (weights @ hits), size, 0.0).sum(axis=1), present)

    return {
        ("subset_accuracy", ""): mean_of(same),
        ("f1", "micro"): f1_micro,
        ("f1", "macro"): f1_macro,
    }


def _indicators(sets: list[frozenset[str]], labels: list[str]) -> Floats:
    """Which row holds which label, shape (rows, labels)."""
    rows = [[float(label in held) for label in labels] for held in sets]
    return np.asarray(rows, dtype=np.float64).reshape(len(sets), len(labels))
