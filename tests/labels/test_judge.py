"""Labels of statements by a model, and a reply that comes in a later run."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from aiohttp import web

from chat_servers import completion, serving
from moot.core.errors import DebatePausedError, RunStoppedError
from moot.core.model_config import ModelConfig
from moot.core.rubric import RUBRICS
from moot.core.shipped_files import prompt_folders
from moot.labels import judge as judges
from moot.llm.chat import Settings
from moot.llm.ledger.ledger import Ledger
from moot.llm.prompts import Prompts

REPLIES = {
    "I affirm it.": '{"evidence": "affirm", "label": "AFFIRM"}',
    "Both.": '{"label": "NONE"}',
    "Hm.": '{"label": "MAYBE"}',
    "So.": "?",
}
FACTS = {"c1": "Facts one.", "c2": "Facts two."}


async def test_each_statement_gets_a_label_or_a_reason(tmp_path: Path) -> None:
    texts = [*REPLIES, " ", "Refused."]
    statements = pd.DataFrame({"case_id": ["c2", *["c1"] * 5], "text": texts})
    asked: list[tuple[bool, bool, str]] = []

    async def answer(_: web.Request, body: dict[str, Any]) -> web.Response:
        prompt = body["messages"][-1]["content"]
        statement = next(text for text in texts if f"<statement>\n{text}" in prompt)
        asked.append((FACTS["c1"] in prompt, FACTS["c2"] in prompt, statement))
        if statement not in REPLIES:
            return web.json_response({"error": {"message": "refused"}}, status=400)
        return web.json_response(completion("openai", REPLIES[statement]))

    async with serving(answer) as server:
        config = ModelConfig(model="test", base_url=server.address("openai"), attempts=3)
        judge = judges.Judge(
            "mine", config, Prompts(*prompt_folders()), RUBRICS["appellate"],
            str(tmp_path), Settings(), 7,
        )  # fmt: skip
        labels = await asyncio.to_thread(judges.judge_statements, judge, statements, FACTS)
    assert [label for label, _ in labels] == ["AFFIRM", "NONE", "", "", "NONE", ""]
    reasons = [
        "affirm",
        "",
        "label: 'MAYBE' is not one of",
        "'?' states no",
        "",
        "HTTP 400: refused",
    ]
    for (_, evidence), reason in zip(labels, reasons, strict=True):
        assert evidence.startswith(reason) and bool(evidence) == bool(reason)
    repeated = ["Hm.", "So."]  # a reply that came twice is not asked for again
    assert sorted(statement for *_, statement in asked) == sorted([*REPLIES, "Refused.", *repeated])
    assert {(first, second) for first, second, text in asked if text != texts[0]} == {(True, False)}
    assert (False, True, texts[0]) in asked
    fields = {"max_tokens": 200, "temperature": 0, "seed": 7}
    assert fields.items() <= server.bodies[0].items()
    calls = judges.label_calls(judge, statements, FACTS)
    with closing(Ledger(str(tmp_path))) as ledger:
        stored = [reply.text for reply in ledger.replies([*calls]).values()]
    assert sorted(stored) == sorted(REPLIES.values()) and len(calls) == len(REPLIES) + 1


def test_a_judge_whose_replies_are_pending_stops_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def pause(*_: Any) -> None:
        raise DebatePausedError("batch 7 is open")

    monkeypatch.setattr(judges, "_judge_all", pause)
    label: Callable[..., Any] = judges.judge_statements
    named_judge = type("NamedJudge", (), {"name": "mine"})()
    with pytest.raises(RunStoppedError, match=r"labels by mine: .*batch 7.* again later"):
        label(named_judge, pd.DataFrame(), {})
