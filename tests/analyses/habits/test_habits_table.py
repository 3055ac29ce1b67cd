"""Test that the table of habits contains the rows and notes of every registered source."""

from typing import Any

import numpy as np
import pytest

from moot.analyses.habits.tables import habits, has_habits
from moot.report import TABLES
from moot.report.habits import HABITS, HabitSource
from moot.report.study_results import StudyResults
from moot.scores import no_scores


def source(habit: str, is_met: bool) -> HabitSource:
    row = {
        "data": ("d", "debate", "judge"),
        "habit": habit,
        "known by": "a test",
        "chosen": (0.7, 0.5),
        "difference": (0.2, 0.1, 0.3),
        "p": 0.01,
        "family": habit,
        "changes if asked twice": np.nan,
        "cases": (10, 10),
    }
    return HabitSource(lambda _: iter([row]), lambda _: is_met, (f"note of {habit}",))


@pytest.mark.parametrize("is_met", [True, False])
def test_the_table_has_the_rows_and_notes_of_each_source(
    monkeypatch: pytest.MonkeyPatch, is_met: bool
) -> None:
    sources = {"one": source("length", is_met=False), "two": source("order", is_met=is_met)}
    list(HABITS)
    monkeypatch.setattr(HABITS, "_entries", sources)
    anything: Any = None
    content = habits(StudyResults("courtroom", {}, no_scores(), {}, anything))
    assert list(content.frame["habit"]) == ["length", "order"]
    assert content.notes[-2:] == ["note of length", "note of order"]
    assert has_habits(anything) == is_met, "one source suffices"


def test_every_study_can_have_the_table() -> None:
    assert {"courtroom/habits", "comparison/habits"} <= set(TABLES)
