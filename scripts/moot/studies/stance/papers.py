"""The parts of Heller et al.'s tables and figures that this study computes: stance and polarity."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from moot.core.types import Fields
from moot.papers import fills
from moot.papers.parts import ItemRun, OwnRow, Part, Point, Series, count_cases, rows_of_runs
from moot.report.notes import data_kind
from moot.report.published import trained_rows
from moot.report.study_results import Measurement, Run, StudyResults
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


CLASS_SCORE = "f1/binary@label="


@fills("decision_conference/table1", STUDY)
def vast(run: ItemRun) -> list[Part]:
    """Compute the scores of all models on VAST."""
    return [*_rows(run, VAST)]


@fills("decision_conference/table2", STUDY)
def vast_by_class(run: ItemRun) -> list[Part]:
    """Compute F1 of each class on VAST."""
    return [*_rows(run, VAST)]


@fills("decision_conference/table3", STUDY)
def claims(run: ItemRun) -> list[Part]:
    """Compute the scores of all models on the stance of claims."""
    return [*_rows(run, CLAIMS)]


@fills("decision_conference/table4", STUDY)
def polarity(run: ItemRun) -> list[Part]:
    """Compute the scores of all models on the polarity of claims."""
    return [*_rows(run, POLARITY)]


def _rows(run: ItemRun, question: StanceQuestion) -> Iterator[OwnRow]:
    runs = list_runs(run.results, question)
    yield from rows_of_runs(
        run.item, [("", (model_run.model_name,), model_run) for model_run in runs]
    )
    for data, board in iterate_leaderboards(run.results, question):
        cells: dict[tuple[str, str], Measurement] = {}
        by_label = f1_by_label(board, sorted(question.labels))
        for column in run.item.columns:
            score = run.item.cell(run.item.rows[0], column).scores[0]
            value = _trained_score(board, score, by_label)
            if not math.isnan(value.value):
                cells["", score] = value
        title = f"{board['title']} (trained)"
        yield OwnRow((title,), str(board["baseline"]), data, float(board["n"]), cells)


def _trained_score(board: Fields, score: str, by_label: dict[str, float]) -> Measurement:
    if score.startswith(CLASS_SCORE):
        return Measurement(by_label.get(score.removeprefix(CLASS_SCORE), math.nan))
    name = score.replace("/", "_")
    ends = (board.get(f"{name}_low", math.nan), board.get(f"{name}_high", math.nan))
    return Measurement(board.get(name, math.nan), *ends)


@fills("decision_conference/figure2", STUDY)
def true_labels(run: ItemRun) -> list[Part]:
    """Count the true labels of the test cases, once for each data set but a sample."""
    series: dict[str, Series] = {}
    for model_run in list_runs(run.results, POLARITY):
        if data_kind(model_run.results) == "sample":
            continue  # its labels are chosen
        cases = model_run.results.cases
        targets = cases.loc[cases["split"] == "test", "target"]
        points = _points(targets, model_run.results.task.labels)
        name, cases_count = "test cases", float(len(targets))
        series[model_run.data] = Series(
            name, model_run.experiment, points, data=model_run.data, cases=cases_count
        )
    return [*series.values()]


@fills("decision_conference/figure3", STUDY)
def predicted_labels(run: ItemRun) -> list[Part]:
    """Count the labels that each model predicted."""
    series = []
    for model_run in list_runs(run.results, POLARITY):
        if model_run.valid.empty:
            continue  # no answer is not an answer of 0 claims
        points = _points(model_run.valid["prediction"], model_run.results.task.labels)
        where = (model_run.data, count_cases([model_run]))
        series.append(
            Series(
                model_run.model_name, model_run.experiment, points, data=where[0], cases=where[1]
            )
        )
    return [*series]


def _points(labels: "pd.Series[str]", names: tuple[str, ...]) -> tuple[Point, ...]:
    order = [name for name in ("positive", "negative", "neutral") if name in names]
    counts = labels.value_counts()
    return tuple(Point(name, Measurement(float(counts.get(name, 0)))) for name in order)
