"""The schemas of the forms that protocols, labelers and studies send to servers are pinned.

Forms of an analysis are pinned in the tests of its folder; test_shipped_prompts pins those that
the shipped experiments send.
"""

import pytest
from pydantic import BaseModel

from moot.core.cases import Task
from moot.labels.judge import judged_form
from moot.protocols.reply_schemas import Factor, prediction_schema
from moot.studies.appellate.legal.rubric import LABELS
from moot.studies.appellate.panel_statements import (
    JudgeStatement,
    make_round_schema,
    make_votes_schema,
)
from moot.studies.conference.forms import Evaluation, Grade, coding_schema
from moot.studies.conference.protocol_decisions import decision_schema
from moot.studies.courtroom.protocol import Inline
from moot.studies.feedback.protocol_reasoning import Criticism, steps_schema
from moot.studies.feedback.protocol_rounds import opinion_schema
from moot.studies.feedback.protocol_summaries import CaseSummary
from sent_schemas import assert_schema_is_pinned

SINGLE_LABEL = Task(noun="the case", question="Is it so?", labels=("no", "yes"))
MULTILABEL = Task(
    noun="the case", question="Which?", labels=("article 1", "article 2"), multilabel=True
)
PINNED_SCHEMAS: dict[str, tuple[type[BaseModel], str]] = {
    "CaseSummary": (CaseSummary, "6794c71c45ff80cf"),
    "Criticism": (Criticism, "7e4dea099e3d889e"),
    "Evaluation": (Evaluation, "ba632e86aff0aafb"),
    "Factor": (Factor, "61e5ce9c2ca54f80"),
    "Grade": (Grade, "506bc2c50adda40f"),
    "Inline": (Inline, "12ba991f04772202"),
    "judged_form": (judged_form(LABELS), "89b807f567e05cd1"),
    "JudgeStatement": (JudgeStatement, "06e0ee9e2de35334"),
    "coding_schema": (coding_schema('{"health": [], "cost": []}'), "dc48fa6dcb303c33"),
    "decision_schema": (decision_schema(("AGREEMENT", "MORE DEBATE")), "881f20d6a4eeb8e4"),
    "opinion_schema": (opinion_schema(SINGLE_LABEL.labels, False), "7b6b73df74488562"),
    "opinion_schema, several labels": (opinion_schema(MULTILABEL.labels, True), "bcd43256b07aaa62"),
    "prediction_schema": (prediction_schema(SINGLE_LABEL), "09e7efff7364bed3"),
    "prediction_schema, several labels": (prediction_schema(MULTILABEL), "9c38821116e0dffd"),
    "prediction_schema, reasons": (
        prediction_schema(SINGLE_LABEL, reasoning=True, max_reason_chars=400),
        "9247d316a26d2d4e",
    ),
    "prediction_schema, factors": (prediction_schema(SINGLE_LABEL, factors=5), "c1136b0d33377cf7"),
    "make_round_schema": (make_round_schema(3, 1500), "e3f8c6367c3d50ac"),
    "make_votes_schema": (make_votes_schema(SINGLE_LABEL.labels, False, 3), "137bab3ff415b94e"),
    "steps_schema": (steps_schema(SINGLE_LABEL.labels, False), "7db1a4e9eaa900eb"),
}


@pytest.mark.parametrize("name", PINNED_SCHEMAS)
def test_the_schema_of_a_form_is_pinned(name: str) -> None:
    assert_schema_is_pinned(name, *PINNED_SCHEMAS[name])
