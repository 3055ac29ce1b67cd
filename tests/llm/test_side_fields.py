"""A clear answer is never lost because of another field, from reply to transcript."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fault_server import FaultServer
from moot.core.cases import Case
from moot.core.model_config import ModelConfig
from moot.jobs.predictions import _CALL_COLUMNS, debate_costs
from moot.llm.chat import Settings, open_chats
from moot.llm.ledger.ledger import Ledger
from moot.llm.parsing.replies import parse_reply
from moot.llm.progress import Progress
from moot.llm.prompts import Prompts
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Answer, Debate, transcript_row
from moot.protocols.setup import JobSetup
from moot.studies.conference.forms import Grade
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
    """Return the answer and transcript of a debate with a server that always gives `reply`."""
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


async def test_a_reply_without_a_clear_answer_is_asked_again(
    server: FaultServer, tmp_path: Path
) -> None:
    """A model that repeats itself is asked no third time, whatever its `attempts`."""
    reply = {"factors": FACTORS, "prediction": "YES or NO"}
    answer, (first, row) = await hold_debate(server, tmp_path, "cot", reply)
    assert answer is None
    assert (first["kind"], first["visibility"]) == ("asked_again", "moot")
    assert first["call_id"] != row["call_id"]
    assert (row["parse_status"], row["prediction"], row["missing_fields"]) == ("invalid", None, "")
    assert row["parse_problem"] == json.loads(row["parsed"])["problem"]
    costs = debate_costs(pd.DataFrame([first, row]), pd.DataFrame(columns=_CALL_COLUMNS))
    assert costs["asked_again"].tolist() == [1]


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
    graded = parse_reply(json.dumps({"reason": REASON, "grade": 9}), Grade)
    assert (graded.status, graded.value) == ("strict", {"reason": REASON, "grade": 9})
