"""Every form that a model is asked to fill in is sent to its server as a JSON schema, docstring and
all, and is part of the key of each recorded reply: an edit here is a decision, and no accident.
"""

import hashlib
import importlib
import inspect
import json
import pkgutil
from collections.abc import Iterator

import pytest
from pydantic import BaseModel

import moot.analyses
import moot.labels
import moot.protocols
import moot.studies
from moot.analyses.attribution.protocol import stated_schema
from moot.analyses.contamination.protocol import Named
from moot.core.cases import Task
from moot.labels.judge import judged_form
from moot.llm.parsing.schema import json_schema
from moot.protocols import ProtocolParams
from moot.protocols.people import PersonForm
from moot.protocols.replies import Factor, prediction_schema
from moot.studies.appellate.legal.rubric import LABELS
from moot.studies.appellate.panel_statements import JudgeStatement, make_round_schema
from moot.studies.conference.protocol import Evaluation, Notes, coding_schema
from moot.studies.conference.protocol_decisions import Grade, decision_schema
from moot.studies.courtroom.protocol import Inline
from moot.studies.feedback.protocol import opinion_schema
from moot.studies.feedback.protocol_reasoning import Criticism, steps_schema
from moot.studies.feedback.protocol_summaries import CaseSummary

NOT_SENT = (ProtocolParams, PersonForm)
ONE = Task(noun="the case", question="Is it so?", labels=("no", "yes"))
SEVERAL = Task(
    noun="the case", question="Which?", labels=("article 1", "article 2"), multilabel=True
)
SENT: dict[str, tuple[type[BaseModel], str]] = {
    "CaseSummary": (CaseSummary, "27bc57b55a499b38"),
    "Criticism": (Criticism, "7e4dea099e3d889e"),
    "Evaluation": (Evaluation, "ba632e86aff0aafb"),
    "Factor": (Factor, "61e5ce9c2ca54f80"),
    "Grade": (Grade, "506bc2c50adda40f"),
    "Inline": (Inline, "12ba991f04772202"),
    "judged_form": (judged_form(LABELS), "89b807f567e05cd1"),
    "Named": (Named, "1aa7475a47b89756"),
    "Notes": (Notes, "0915d586a8af2e43"),
    "JudgeStatement": (JudgeStatement, "06e0ee9e2de35334"),
    "coding_schema": (coding_schema('{"health": [], "cost": []}'), "dc48fa6dcb303c33"),
    "decision_schema": (decision_schema(("AGREEMENT", "MORE DEBATE")), "881f20d6a4eeb8e4"),
    "opinion_schema": (opinion_schema(ONE.labels, False), "7b6b73df74488562"),
    "opinion_schema, several labels": (opinion_schema(SEVERAL.labels, True), "bcd43256b07aaa62"),
    "prediction_schema": (prediction_schema(ONE), "09e7efff7364bed3"),
    "prediction_schema, several labels": (prediction_schema(SEVERAL), "9c38821116e0dffd"),
    "prediction_schema, reasons": (
        prediction_schema(ONE, reasoning=True, max_reason_chars=400),
        "9247d316a26d2d4e",
    ),
    "prediction_schema, factors": (prediction_schema(ONE, factors=5), "c1136b0d33377cf7"),
    "make_round_schema": (make_round_schema(3, 1500), "e3f8c6367c3d50ac"),
    "stated_schema": (stated_schema(6), "c4f1941f38c1fca4"),
    "steps_schema": (steps_schema(ONE.labels, False), "7db1a4e9eaa900eb"),
}


def digest(schema: type[BaseModel]) -> str:
    sent = json.dumps(json_schema(schema), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(sent.encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", SENT)
def test_what_is_sent_to_servers_stays_as_it_is(name: str) -> None:
    schema, pinned = SENT[name]
    assert digest(schema) == pinned, (
        f"The form {name} is not what it was: its JSON schema, docstring and descriptions included,"
        " is sent to servers and is part of the key of every recorded reply to it, so no such"
        " reply is found again and each is asked, and paid, anew. Take the edit back (a remark for"
        " readers of the code is a comment, not a docstring), or, where the change is meant, write"
        f" {digest(schema)} here and name the form in CHANGELOG.md."
    )


def forms() -> Iterator[str]:
    """Every form, and every function that makes one, in the modules that ask models."""
    for package in (moot.protocols, moot.labels, moot.studies, moot.analyses):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if package in (moot.studies, moot.analyses) and not found.name.rpartition(".")[
                2
            ].startswith(("protocol", "panel")):
                continue
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                own = getattr(value, "__module__", "") == module.__name__ and not name.startswith(
                    "_"
                )
                form = (
                    inspect.isclass(value)
                    and issubclass(value, BaseModel)
                    and not issubclass(value, NOT_SENT)
                )
                made = inspect.unwrap(value)  # a cached function is one too
                makes = (
                    inspect.isfunction(made)
                    and made.__annotations__.get("return") == type[BaseModel]
                )
                if own and (form or makes):
                    yield name


def test_every_form_is_pinned() -> None:
    assert set(forms()) == {name.partition(",")[0] for name in SENT}
