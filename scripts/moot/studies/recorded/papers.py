"""Recorded runs of a later study of AgenticSimLaw's authors in the places of the paper's tables.

The study has other models than the paper and 22 features, so that no published value is compared.
"""

import math
from collections.abc import Iterable, Iterator

from moot.papers import fills
from moot.papers.own_rows import measure, rows_of_runs, series_of_run
from moot.papers.parts import ItemRun, Part, Point
from moot.studies.recorded.runs import STUDY, RecordedRun

DEBATE = "debate"
DATASET_LOADER = "agenticsimlaw"
LATER_STUDY = "recorded in a later study"


@fills(STUDY, "courtroom/table5")
def recorded_debates(run: ItemRun) -> Iterable[Part]:
    """Compute accuracy and F1 of the authors' recorded debates."""
    placed_runs = [
        ("", (f"{_short_name(recorded_run)} ({LATER_STUDY})",), recorded_run)
        for recorded_run in _debates(run)
    ]
    return rows_of_runs(run.item, placed_runs)


@fills(STUDY, "courtroom/figure5")
def recorded_scores(run: ItemRun) -> Iterator[Part]:
    """Compute F1 and accuracy of the recorded debates."""
    for recorded_run in _debates(run):
        y = measure(recorded_run, "f1/binary")
        if math.isnan(y.value):
            continue
        point = Point(recorded_run.model_name, y, measure(recorded_run, "accuracy"))
        name = f"{_short_name(recorded_run)} (later study)"
        yield series_of_run(recorded_run, name, [point], is_apart=True)


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
