"""The parts of Heller et al.'s tables and figures that this study computes: stance and polarity."""

from collections.abc import Iterable, Iterator

import pandas as pd

from moot.papers import fills
from moot.papers.own_rows import rows_of_runs, rows_of_trained_models, series_of_run
from moot.papers.parts import ItemRun, Part, Point, Series
from moot.report.notes import data_kind
from moot.report.study_results import Measurement, Run, StudyResults

STUDY = "stance"
PROTOCOLS = ("stance", "polarity")
POLARITY = ("positive", "negative", "neutral")
LABELS = {
    "table1": ("con", "neutral", "pro"),
    "table2": ("con", "neutral", "pro"),
    "table3": ("con", "pro"),
    "table4": POLARITY,
}
"""A table to the labels of its task."""


def list_runs(results: StudyResults, labels: tuple[str, ...]) -> list[Run]:
    """Return the runs on a task, whatever their data, in the order of the configuration."""
    experiments = results.find_experiments(*PROTOCOLS)
    on_task = [each for each in experiments if set(each.task.labels) == set(labels)]
    return results.runs(on_task, Run)


@fills(STUDY, *(f"decision_conference/{table}" for table in LABELS))
def scores_of_task(run: ItemRun) -> Iterable[Part]:
    """Compute the scores of all models on the task of a table."""
    labels = LABELS[run.item.key]
    runs = list_runs(run.results, labels)
    placed_runs = [("", (model_run.model_name,), model_run) for model_run in runs]
    return [*rows_of_runs(run.item, placed_runs), *rows_of_trained_models(run, labels=labels)]


@fills(STUDY, "decision_conference/figure2")
def true_labels(run: ItemRun) -> Iterable[Part]:
    """Count the true labels of the test cases, once for each data set but a sample."""
    series: dict[str, Series] = {}
    for model_run in list_runs(run.results, POLARITY):
        if data_kind(model_run.results) == "sample":
            continue  # its labels are chosen
        cases = model_run.results.cases
        targets = cases.loc[cases["split"] == "test", "target"]
        size = float(len(targets))
        series[model_run.data] = series_of_run(
            model_run, "test cases", _points(targets), cases=size
        )
    return series.values()


@fills(STUDY, "decision_conference/figure3")
def predicted_labels(run: ItemRun) -> Iterator[Part]:
    """Count the labels that each model predicted; no answer is not an answer of 0 claims."""
    for model_run in list_runs(run.results, POLARITY):
        if len(model_run.valid):
            points = _points(model_run.valid["prediction"])
            yield series_of_run(model_run, model_run.model_name, points)


def _points(labels: "pd.Series[str]") -> list[Point]:
    counts = labels.value_counts()
    return [Point(name, Measurement(float(counts.get(name, 0)))) for name in POLARITY]
