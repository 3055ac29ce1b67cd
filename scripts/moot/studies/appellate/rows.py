"""What rows of several appellate tables have in common: their keys, the names of seats, the scores of a phase."""

from moot.core.types import JsonObject
from moot.report.content import StudyResults
from moot.report.published import Measured, measured
from moot.scores.labels import CORRECTED
from moot.studies.appellate.phases import SPOKEN, Phase

KEYS = ("phase", "experiment", "model")


ALL_STATEMENTS = "all statements"


BY_CASE_NOTE = "Intervals are by case, for few cases (docs/results.md); with five they are wide."


def named(phase: Phase) -> JsonObject:
    return {"phase": SPOKEN[phase.name], "experiment": phase.experiment, "model": phase.model}


def seat_name(phase: Phase, seat: int) -> str:
    return "human" if phase.name == "human_ai" and seat == phase.judges else f"judge {seat}"


def phase_score(results: StudyResults, phase: Phase, metric: str, group: str = "overall") -> Measured:
    return measured(results, phase.experiment, phase.model, metric, group=group)


def corrected_score(results: StudyResults, phase: Phase, metric: str, group: str) -> Measured:
    """The corrected score of a raw one."""
    return phase_score(results, phase, f"{CORRECTED}{metric}", group)
