"""A clear answer is never lost because of another field, from a server's reply to the
transcript.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from fault_server import FaultServer
from moot.core.cases import Case
from moot.core.model_config import ModelConfig
from moot.llm.chat import Settings, open_chats
from moot.llm.ledger.ledger import Ledger
from moot.llm.parsing.ladder import parse_reply
from moot.llm.parsing.schema import MAY_BE_MISSING, describe_schema, schema_fields
from moot.llm.progress import Progress
from moot.llm.prompts import Prompts
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Answer, Debate, transcript_row
from moot.protocols.setup import JobSetup
from moot.studies.appellate.panel_statements import read_confidence
from reply_forms import PROTOCOL_FORMS
from results_on_disk import REARREST
from scripted_model import WINNER

PROJECT = Path(__file__).resolve().parents[2]
FACTORS = [
    {"factor": f"factor {number}", "weight": "high", "reasoning": "It bears on it."}
    for number in range(22)
]
REASON = (
    "Both participants accept the timetable and the budget, and nothing of substance is left open. "
    * 3
)


async def hold_debate(
    server: FaultServer,
    folder: Path,
    protocol: str,
    reply: Any,
    structured: str = "prompted",
    **params: Any,
) -> tuple[Answer | None, list[dict[str, Any]]]:
    """One debate against a server that always gives `reply`: its answer and the rows of its
    transcript.
    """
    server.reset(content=reply if isinstance(reply, str) else json.dumps(reply))
    model = ModelConfig(endpoint="openai", model="test", base_url=server.url, structured=structured)
    task = (
        WINNER
        if protocol == "four_step_cot"
        else replace(REARREST, meaning={"yes": "arrest", "no": "no arrest"})
    )
    case = Case("c1", "toy", "test", "Facts of the case.", task.labels[1], task.labels)
    ledger = Ledger(str(folder))
    async with open_chats({"test": model}, ledger, Settings(), Progress("test", 1)) as chats:
        entry = PROTOCOLS[protocol]
        checked_params = entry.params.model_validate(params)
        setup = JobSetup(
            "toy", "test", chats, checked_params, Prompts(PROJECT / "config/prompts"), 7
        )
        debate = Debate(case, task, 0, setup)
        answer = await entry.run(debate, checked_params)
    ledger.close()
    return answer, [transcript_row(debate, utterance) for utterance in debate.utterances]


@pytest.mark.parametrize("structured", ["prompted", "native"])
async def test_22_factors_are_read_whether_the_server_was_held_to_ten_or_not(
    server: FaultServer, tmp_path: Path, structured: str
) -> None:
    reply = {"factors": FACTORS, "prediction": "YES", "confidence": 70}
    answer, (row,) = await hold_debate(server, tmp_path, "cot", reply, structured)
    assert answer is not None and (answer.prediction, answer.confidence) == ("yes", 70)
    assert (row["parse_status"], row["parse_problem"], row["missing_fields"]) == ("strict", "", "")
    assert len(json.loads(row["parsed"])["factors"]) == 22


async def test_what_is_missing_is_named_in_the_transcript(
    server: FaultServer, tmp_path: Path
) -> None:
    factors = [FACTORS[0], {**FACTORS[1], "weight": "medium-high"}]
    reply = {"factors": factors, "prediction": "NO", "confidence": 0.8}
    answer, (row,) = await hold_debate(server, tmp_path, "cot", reply)
    assert answer is not None
    assert (answer.prediction, answer.confidence, answer.score) == ("no", None, None)
    assert (row["prediction"], row["confidence"]) == ("no", None)
    assert row["missing_fields"] == "factors[1].weight,confidence"
    assert "0.8 where 0 to 100 is asked may be a share of 1" in row["parse_problem"]
    parsed = json.loads(row["parsed"])
    assert "confidence" not in parsed and "weight" not in parsed["factors"][1]


async def test_a_sentence_is_an_answer(server: FaultServer, tmp_path: Path) -> None:
    answer, _ = await hold_debate(
        server, tmp_path, "zero_shot", "I predict YES with 80% confidence."
    )
    assert answer is not None and (answer.prediction, answer.confidence) == ("yes", 80)


async def test_replies_without_a_clear_answer_are_rejected(
    server: FaultServer, tmp_path: Path
) -> None:
    answer, (row,) = await hold_debate(
        server, tmp_path, "cot", {"factors": FACTORS, "prediction": "YES or NO"}
    )
    assert answer is None
    assert (row["parse_status"], row["prediction"], row["missing_fields"]) == ("invalid", None, "")
    assert row["parse_problem"] == json.loads(row["parsed"])["problem"]


async def test_a_courtroom_with_confidences_in_words_has_beliefs_and_a_verdict(
    server: FaultServer, tmp_path: Path
) -> None:
    answer, rows = await hold_debate(
        server, tmp_path, "courtroom", {"prediction": "NO", "confidence": "high"}
    )
    assert answer is not None and (answer.prediction, answer.score) == ("no", None)
    judged = [row for row in rows if row["speaker"] == "judge"]
    assert [row["prediction"] for row in judged] == ["no"] * 4
    assert {row["missing_fields"] for row in judged} == {"reasoning,confidence"}


async def test_steps_and_grades_beyond_their_bounds(server: FaultServer, tmp_path: Path) -> None:
    steps = ["claims", "rule", "both sides", "conclusion", "check"]
    reply = {"steps": steps, "prediction": "PLAINTIFF", "confidence": 70}
    answer, _ = await hold_debate(server, tmp_path, "four_step_cot", reply)
    assert answer is not None and answer.prediction == "plaintiff"
    graded = parse_reply(json.dumps({"reason": REASON, "grade": 9}), PROTOCOL_FORMS["grade"])
    assert (graded.status, graded.value) == ("strict", {"reason": REASON, "grade": 9})


DECIDE = {
    "prompting": {"prediction"},
    "cot": {"prediction"},
    "courtroom": {"prediction"},
    "inline": {"statement"},
    "grade": {"grade"},
    "decision": {"prediction"},
    "evaluation": set(),
    "notes": set(),
    "coding": set(),
    "round": set(),
    "judged": {"label"},
    "opinion": {"prediction"},
    "outcome": {"prediction"},
    "articles": {"prediction"},
    "four_steps": {"prediction"},
    "criticism": {"stands"},
    "stance_json": {"prediction"},
    "summary": {"background", "claim", "defence", "prediction"},
}


@pytest.mark.parametrize("name", PROTOCOL_FORMS)
def test_each_form_marks_its_required_fields(name: str) -> None:
    form: type[BaseModel] = PROTOCOL_FORMS[name]
    assert {
        field for field, shape in schema_fields(form).items() if not shape.may_be_missing
    } == DECIDE[name]
    assert parse_reply(describe_schema(form), form).value is None


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("I affirm. Confidence: 85/100", 85),
        ("I affirm. Confidence: 85", 85),
        ("**Confidence:** 70%", 70),
        ("I am 90% confident.", 90),
        ("Confidence: 0.8", None),
        ("Confidence: 70-80", None),
        ("Confidence: 120", None),
        ("Confidence: high", None),
        ("My confidence in the reasoning of Judge 2 fell. Confidence: 60", 60),
    ],
)
def test_confidence_at_the_end_of_a_judges_statement(text: str, confidence: float | None) -> None:
    assert read_confidence(text) == confidence


class Renamed(BaseModel):
    """A form whose keys differ from its fields' names, also in a nested form."""

    class Ground(BaseModel):
        factor: Annotated[str, MAY_BE_MISSING] = Field(alias="what it is")
        weight: Annotated[int, MAY_BE_MISSING] = Field(alias="how heavy", ge=0, le=10)

    prediction: Literal["YES", "NO"] = Field(alias="verdict")
    confidence: Annotated[int, MAY_BE_MISSING] = Field(alias="how sure", ge=0, le=100)
    reasoning: Annotated[str, MAY_BE_MISSING] = Field(alias="why")
    grounds: Annotated[list[Ground], MAY_BE_MISSING] = Field(alias="because of")


_ALIASED = {"prediction": "YES", "confidence": 70, "reasoning": "x"}
_GROUNDS = '"because of": [{"what it is": "age", "how heavy": 3}]'


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ('{"verdict": "YES", "how sure": 70, "why": "x", ' + _GROUNDS + "}", "all"),
        ('{"verdict": "YES", "how sure": 700, "why": "x"}', "prediction reasoning"),
        ('{"verdict": "YES", "how sure": 70,}', "prediction confidence"),
        ("{verdict: YES, how sure: 70, why: x}", "prediction"),
        ('{"verdict": "YES"}\nHow sure: 70', "prediction confidence"),
        ('{"verdict": "YES", "how sure": 60}\nHow sure: 70', "prediction"),
        ("Verdict: YES\nHow sure: 70\nWhy: x", "prediction confidence reasoning"),
        ("<verdict>YES</verdict>", "prediction"),
        ('{"verdict": "YES", "why": "x", "how sure": 7', "prediction reasoning"),
        ('{"verdict": "YES", "because of": [{"what it is": "age"}]}', "prediction grounds"),
    ],
)
def test_a_value_is_by_the_names_of_the_fields_whatever_their_keys(reply: str, names: str) -> None:
    value = parse_reply(reply, Renamed).value
    assert value is not None
    expected = list(Renamed.model_fields) if names == "all" else names.split()
    assert sorted(value) == sorted(expected)
    assert {name: value[name] for name in _ALIASED if name in value} == {
        name: _ALIASED[name] for name in _ALIASED if name in value
    }
    for ground in value.get("grounds", []):
        assert ground["factor"] == "age"
