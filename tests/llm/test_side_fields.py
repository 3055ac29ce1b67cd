"""A clear answer is never lost because of another field, from reply to transcript."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from fault_server import FaultServer
from moot.core.cases import Case
from moot.core.model_config import ModelConfig
from moot.jobs.predictions import _CALL_COLUMNS, debate_costs
from moot.llm.chat import Settings, open_chats
from moot.llm.ledger.ledger import Ledger
from moot.llm.progress import Progress
from moot.llm.prompts import Prompts
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Answer, Debate, transcript_row
from moot.protocols.setup import JobSetup
from results_on_disk import REARREST

PROJECT = Path(__file__).resolve().parents[2]
FACTORS = [
    {"factor": f"factor {number}", "weight": "high", "reasoning": "It bears on it."}
    for number in range(2)
]


async def hold_debate(
    server: FaultServer, folder: Path, reply: dict[str, Any]
) -> tuple[Answer | None, list[dict[str, Any]]]:
    """Return the answer and transcript of a prompt to a server that always gives `reply`."""
    server.reset(content=json.dumps(reply))
    model = ModelConfig(model="test", base_url=server.url, structured="prompted")
    case = Case("c1", "toy", "test", "Facts of the case.", "yes", REARREST.labels)
    ledger = Ledger(str(folder))
    async with open_chats({"test": model}, ledger, Settings(), Progress("test", 1)) as chats:
        entry = PROTOCOLS["cot"]
        params = entry.params()
        setup = JobSetup("toy", "test", chats, params, Prompts(PROJECT / "config/prompts"), 7)
        debate = Debate(case, REARREST, 0, setup)
        answer = await entry.run(debate, params)
    ledger.close()
    return answer, [transcript_row(debate, utterance) for utterance in debate.utterances]


async def test_what_is_missing_is_named_in_the_transcript(
    server: FaultServer, tmp_path: Path
) -> None:
    factors = [FACTORS[0], {**FACTORS[1], "weight": "medium-high"}]
    reply = {"factors": factors, "prediction": "NO", "confidence": 0.8}
    answer, (row,) = await hold_debate(server, tmp_path, reply)
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
    answer, (first, row) = await hold_debate(server, tmp_path, reply)
    assert answer is None
    assert (first["kind"], first["visibility"]) == ("asked_again", "moot")
    assert first["call_id"] != row["call_id"]
    assert (row["parse_status"], row["prediction"], row["missing_fields"]) == ("invalid", None, "")
    assert row["parse_problem"] == json.loads(row["parsed"])["problem"]
    costs = debate_costs(pd.DataFrame([first, row]), pd.DataFrame(columns=_CALL_COLUMNS))
    assert costs["asked_again"].tolist() == [1]
