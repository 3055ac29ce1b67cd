"""The tasks and runs of the stance study, for the items of its paper."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from moot.core.types import Fields
from moot.report.published import trained_rows
from moot.report.study_results import Run, StudyResults
from moot.scores.results import ExperimentResults
from moot.stats.arrays import ratio

STUDY = "stance"
PROTOCOLS = ("stance", "polarity")


@dataclass(frozen=True, slots=True)
class StanceQuestion:
    """One of the study's three tasks.

    Attributes:
        labels: the labels of an experiment on it.
    """

    labels: frozenset[str]

    def is_asked_in(self, results: ExperimentResults) -> bool:
        """Return whether an experiment asks this question, whatever the name of its data set."""
        return frozenset(results.task.labels) == self.labels


VAST = StanceQuestion(frozenset({"con", "neutral", "pro"}))
CLAIMS = StanceQuestion(frozenset({"con", "pro"}))
POLARITY = StanceQuestion(frozenset({"negative", "neutral", "positive"}))


def list_runs(results: StudyResults, question: StanceQuestion) -> list[Run]:
    """Return the runs on one question, in the order of the configuration."""
    return results.runs(filter(question.is_asked_in, results.find_experiments(*PROTOCOLS)), Run)


def iterate_leaderboards(
    results: StudyResults, question: StanceQuestion
) -> Iterator[tuple[str, Fields]]:
    """Yield the data label and the test row of every baseline that is trained on a question."""
    for name, board in results.baselines.items():
        if len(board) and question.is_asked_in(results.experiment_by_dataset[name]):
            for row in trained_rows(board):
                yield results.data_label(name), row


def f1_by_label(board: Fields, labels: Sequence[str]) -> dict[str, float]:
    """Return F1 of each label, from a trained baseline's confusion matrix.

    The rows of the matrix are the actual labels, the columns the predicted ones.
    """
    cells = np.array(json.loads(board["confusion"]), dtype=np.float64)
    values = ratio(2 * np.diag(cells), cells.sum(axis=0) + cells.sum(axis=1), 0.0)
    return dict(zip(labels, map(float, values), strict=True))
