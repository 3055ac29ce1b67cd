"""Recorded runs of a later study of AgenticSimLaw's authors in the places of the paper's tables.

The study has other models than the paper and 22 features, so that no published value is compared.
"""

import math

from moot.papers import fills
from moot.papers.parts import (
    ItemRun,
    OwnRow,
    Part,
    Point,
    Series,
    count_cases,
    measure,
    rows_of_runs,
)
from moot.report.study_results import Run
from moot.studies.recorded.runs import STUDY, RecordedRun

DEBATE = "debate"
DATASET_LOADER = "agenticsimlaw"
LATER_STUDY = "recorded in a later study"


@fills("courtroom/table5", STUDY)
def recorded_debates(run: ItemRun) -> list[Part]:
    """Compute accuracy and F1 of the authors' recorded debates."""
    placed_runs: list[tuple[str, tuple[str, ...], Run]] = [
        ("", (f"{_short_name(recorded_run)} ({LATER_STUDY})",), recorded_run)
        for recorded_run in _debates(run)
    ]
    rows: list[OwnRow] = rows_of_runs(run.item, placed_runs)
    return [*rows]


@fills("courtroom/figure5", STUDY)
def recorded_scores(run: ItemRun) -> list[Part]:
    """Compute F1 and accuracy of the recorded debates."""
    series: list[Part] = []
    for recorded_run in _debates(run):
        y = measure(recorded_run, "f1/binary")
        if math.isnan(y.value):
            continue
        point = Point(recorded_run.model_name, y, measure(recorded_run, "accuracy"))
        series.append(
            Series(
                f"{_short_name(recorded_run)} (later study)",
                recorded_run.experiment,
                (point,),
                data=recorded_run.data,
                cases=count_cases([recorded_run]),
                is_apart=True,
            )
        )
    return series


def _short_name(run: RecordedRun) -> str:
    """Return the model's name without the vendor that the records put before it."""
    return run.model_name.rpartition("/")[2]


def _debates(run: ItemRun) -> list[RecordedRun]:
    runs = run.results.runs(run.results.experiments.values(), RecordedRun)
    return [
        recorded_run
        for recorded_run in runs
        if recorded_run.results.config.loader.startswith(DATASET_LOADER)
        and recorded_run.params.get("method") == DEBATE
    ]
