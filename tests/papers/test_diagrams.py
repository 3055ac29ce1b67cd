"""Diagrams of protocols, by their parameters."""

from itertools import product
from typing import Any

import pytest

from moot.llm.prompts import Prompts
from moot.papers import fill_item
from moot.papers.as_published import ExperimentSetting
from moot.papers.diagrams import diagram_svg
from moot.papers.parts import Design, Diagram
from moot.protocols import PROTOCOLS
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from moot.scores.results import ExperimentView
from paper_items import ITEMS, PUBLISHED

TOPICS = [
    {"title": "one", "stage": 'the "first": #1 \\ {{ seats }}', "question": "Why?"},
    {"title": "two", "stage": "- 第二 🙂", "question": "How?"},
]
PARAMS: dict[str, tuple[str, dict[str, tuple[Any, ...]]]] = {
    "courtroom/figure1": (
        "courtroom",
        {
            "strategy": ("call", "inline", "fixed", "none"),
            "beliefs": ("after_round", "after_turn", "none"),
            "silent_judge": (True, False),
            "judge_sees": ("facts", "both"),
        },
    ),
    "feedback/figure1": (
        "feedback",
        {"debaters": (1, 3), "assistant": ("", "mine"), "statement_summaries": (True, False)},
    ),
    "decision_conference/figure1": (
        "conference",
        {
            "agreement": (True, False),
            "evaluator": (True, False),
            "evaluates_open_topics": (True, False),
            "topics": ((), TOPICS),
            "visits": (1, 3),
            "rounds": (1, 3),
        },
    ),
    "appellate/figure1": ("panel", {"judges": (1, 3), "rounds": (1, 2)}),
    "appellate/figure3": ("synthetic_panel", {"judges": (1, 3)}),
    "appellate/figure4": ("human_panel", {"judges": (1, 3), "seats": ({}, {"human": "person"})}),
}


def draw(item_name: str, protocol: str, params: dict[str, Any]) -> Diagram:
    values = PROTOCOLS[protocol].params.model_validate(params).model_dump()
    study = PROTOCOLS[protocol].study
    view = ExperimentView(protocol, "data", (), "test", values)
    setting = ExperimentSetting.__new__(ExperimentSetting)
    design = Design("mine", study, view, setting, Prompts.__new__(Prompts), {}, True)
    results = StudyResults(study, {}, no_scores(), {}, PUBLISHED)
    (diagram,) = fill_item(ITEMS[item_name], {study: results}, (design,))
    assert isinstance(diagram, Diagram)
    return diagram


@pytest.mark.parametrize("item", PARAMS)
def test_a_diagram_is_drawn_with_any_parameters(item: str) -> None:
    protocol, choices = PARAMS[item]
    for values in product(*choices.values()):
        diagram = draw(item, protocol, dict(zip(choices, values, strict=True)))
        assert {step.seat for step in diagram.steps} <= set(diagram.seats)
        assert "" not in diagram.seats and None not in diagram.seats
        assert diagram_svg([diagram]).count("<rect") == len(diagram.steps)


@pytest.mark.parametrize("agreement", [True, False])
@pytest.mark.parametrize("evaluator", [True, False])
def test_who_decides_and_scores_is_drawn_as_configured(agreement: bool, evaluator: bool) -> None:
    params = {"agreement": agreement, "evaluator": evaluator}
    diagram = draw("decision_conference/figure1", "conference", params)
    assert ("judge" in diagram.seats, "evaluator" in diagram.seats) == (agreement, evaluator)


def test_a_stage_of_ones_own_is_shown_as_it_is_written() -> None:
    diagram = draw("decision_conference/figure1", "conference", {"topics": TOPICS})
    stages = ", ".join(topic["stage"] for topic in TOPICS)
    assert f"For each stage: {stages}" in {step.stage for step in diagram.steps}
