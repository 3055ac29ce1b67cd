"""Diagrams of protocols, by their parameters."""

from itertools import product
from typing import Any

import pytest

from drawn_diagrams import TOPICS, draw
from moot.papers.diagrams import diagram_svg

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


@pytest.mark.parametrize("item", PARAMS)
def test_a_diagram_is_drawn_with_any_parameters(item: str) -> None:
    protocol, choices = PARAMS[item]
    for values in product(*choices.values()):
        diagram = draw(item, protocol, dict(zip(choices, values, strict=True)))
        assert {step.seat for step in diagram.steps} <= set(diagram.seats)
        assert "" not in diagram.seats and None not in diagram.seats
        assert diagram_svg([diagram]).count("<rect") == len(diagram.steps)
