"""Table 5 of Heller et al. shows five decisions, from as many conferences as they need."""

from pathlib import Path

from conference_runs import hold_conferences
from conference_script import script
from moot.papers.parts import ItemRun, OwnRow
from moot.report.study_results import StudyResults
from moot.scores import score_experiment
from moot.scores.results import ExperimentResults
from moot.studies.conference.papers import agreement_detection
from paper_items import ITEMS, PUBLISHED


def table_5(results: ExperimentResults) -> list[OwnRow]:
    scores = score_experiment(results)
    study = StudyResults("conference", {"conference": results}, scores, {}, PUBLISHED)
    item = ITEMS["decision_conference/table5"]
    return [row for row in agreement_detection(ItemRun(item, study)) if isinstance(row, OwnRow)]


async def test_the_five_decisions_may_be_from_two_conferences(tmp_path: Path) -> None:
    talks = [script("AGREEMENT"), script("AGREEMENT")]
    results = await hold_conferences(tmp_path, talks, gradings=1)
    (row,) = table_5(results)
    assert all(("", f"grade@decision={number}") in row.cells for number in range(1, 6))
    assert row.cells["", "grade"].n == 5
    assert row.heads[0].endswith("graded by itself)")
    assert (row.answers.n, row.answers.noun) == (6, "grade"), "three topics, twice"


async def test_fewer_decisions_have_no_overall_grade(tmp_path: Path) -> None:
    results = await hold_conferences(tmp_path, [script("AGREEMENT")], gradings=1)
    (row,) = table_5(results)
    assert ("", "grade@decision=1") in row.cells
    assert ("", "grade@decision=5") not in row.cells and ("", "grade") not in row.cells
