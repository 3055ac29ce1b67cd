"""The forms for reading the table of nasty replies: forms of protocols, and some others."""

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from moot.labels.judge import judged_form
from moot.llm.parsing.ladder import Parsed, parse_label, parse_reply
from moot.protocols.reply_schemas import prediction_schema
from moot.studies.appellate.legal.rubric import LABELS
from moot.studies.appellate.panel_statements import make_round_schema
from moot.studies.conference.forms import Evaluation, Grade, Notes, coding_schema
from moot.studies.conference.protocol_decisions import ANSWERS, decision_schema
from moot.studies.conference.speakers import JUDGE
from moot.studies.courtroom.protocol import Inline
from moot.studies.feedback.protocol_reasoning import Criticism, steps_schema
from moot.studies.feedback.protocol_rounds import opinion_schema
from moot.studies.feedback.protocol_summaries import CaseSummary
from results_on_disk import REARREST
from scripted_model import ARTICLES, STANCE, WINNER


class Verdict(BaseModel):
    prediction: Literal["YES", "NO"]
    confidence: int = Field(ge=0, le=100, description="how sure you are")
    reasoning: str


class Belief(Verdict):
    reasoning: str = ""


class Stance(BaseModel):
    prediction: Literal["pro", "con", "neutral"]
    confidence: int | None = Field(default=None, ge=0, le=100)
    reasoning: str = ""


class RiskFactor(BaseModel):
    factor: str
    weight: int = Field(ge=0, le=10)
    direction: Literal["raises", "lowers", "unknown"] = "unknown"


class Review(BaseModel):
    prediction: Literal["YES", "NO"]
    confidence: int = Field(ge=0, le=100)
    risk_factors: list[RiskFactor]


DECISIONS = tuple(ANSWERS[JUDGE].values())
PROTOCOL_FORMS: dict[str, type[BaseModel]] = {
    "prompting": prediction_schema(REARREST),
    "cot": prediction_schema(REARREST, factors=10),
    "courtroom": prediction_schema(REARREST, name="Verdict", reasoning=True),
    "inline": Inline,
    "grade": Grade,
    "decision": decision_schema(DECISIONS),
    "evaluation": Evaluation,
    "notes": Notes,
    "coding": coding_schema('{"cost": [], "climate": [], "jobs": []}'),
    "round": make_round_schema(3, 1500),
    "judged": judged_form(LABELS),
    "opinion": opinion_schema(WINNER.labels, WINNER.multilabel),
    "outcome": prediction_schema(WINNER),
    "articles": prediction_schema(ARTICLES),
    "four_steps": steps_schema(WINNER.labels, WINNER.multilabel),
    "criticism": Criticism,
    "stance_json": prediction_schema(STANCE, reasoning=True),
    "summary": CaseSummary,
}
OTHER_FORMS: dict[str, type[BaseModel]] = {
    "verdict": Verdict,
    "belief": Belief,
    "stance": Stance,
    "review": Review,
}
FORMS = PROTOCOL_FORMS | OTHER_FORMS
LABELS = {
    "label": ("pro", "con", "neutral"),
    "chinese": ("支持", "反对"),
    "agreement": DECISIONS,
    "stance_label": ("CON", "NEUTRAL", "PRO"),
}
TABLE = Path(__file__).parents[1] / "data" / "nasty_replies.jsonl"
NASTY: list[dict[str, Any]] = [
    json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()
]


def read_reply(form: str, reply: str) -> Parsed:
    """Read a reply to a form of `FORMS`, or to a question for one of `LABELS`."""
    return parse_label(reply, LABELS[form]) if form in LABELS else parse_reply(reply, FORMS[form])
