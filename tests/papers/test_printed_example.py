"""The example of Debate-Feedback: its case, its assistant and its printed reliabilities."""

from dataclasses import replace
from pathlib import Path

import pytest

from moot.core.cases import Case
from moot.core.errors import UserError
from moot.papers.examples import build_example, example_frame
from moot.plan.debated_cases import choose_debated_cases
from moot.plan.papers_of_run import paper_plan
from moot.report.published import published_values_of
from paper_items import ITEMS, PUBLISHED

PROJECT = Path(__file__).resolve().parents[2]
EXAMPLE = "paper-feedback-example"


def case_of(case_id: str) -> Case:
    return Case(case_id, "paper-caselaw", "test", "Facts.", "plaintiff", ("defendant", "plaintiff"))


def test_the_example_has_the_printed_reliabilities() -> None:
    frame = example_frame(
        build_example(ITEMS["feedback/table4"], published_values_of(PUBLISHED), [])
    )
    row = frame[frame["step"] == "3. Verification step"].iloc[0]
    numbers = [row[f"debater {number}"].rpartition(" ")[2] for number in (1, 2, 3)]
    assert numbers == ["0.75", "0.8", "0.45"]


def test_the_example_debates_the_printed_case_with_an_assistant() -> None:
    experiment = paper_plan(PROJECT).experiments[EXAMPLE]
    assert dict(experiment.params)["assistant"] == "paper-feedback-training-caselaw"
    (case_id,) = experiment.config.case_ids
    cases = [case_of(f"c{number}") for number in range(9)]
    assert choose_debated_cases(experiment, [*cases, case_of(case_id)], 0) == [case_of(case_id)]
    with pytest.raises(UserError, match=f"`case_ids`: found no {case_id}"):
        choose_debated_cases(experiment, cases, 0)
    config = experiment.config.model_copy(update={"allow_fewer_cases": True})
    assert len(choose_debated_cases(replace(experiment, config=config), cases, 0)) == 1
