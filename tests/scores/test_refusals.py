"""Replies that refuse to answer: kept with their words, with a status of their own, and shown.

They are counted, too.
"""

import json
from pathlib import Path

import pytest

from answers_by_model import hold_debates
from fault_server import FaultServer
from moot.report.debate_texts import read_debates
from moot.scores import score_experiment
from moot.scores.refusals import refusal_notes

ANSWER = json.dumps({"prediction": "YES", "confidence": 70, "reasoning": "The person has a job."})
WORDS = "I cannot help with a forecast about a person."


@pytest.mark.parametrize(
    ("finish_reason", "problem", "words"),
    [
        ("refusal", "the model refused to answer", WORDS),
        ("content_filter", "a filter for content stopped the reply", ANSWER),
    ],
)
def test_a_refusal_is_kept_counted_and_shown(
    server: FaultServer, tmp_path: Path, finish_reason: str, problem: str, words: str
) -> None:
    results, predictions = hold_debates(
        server,
        tmp_path,
        {"willing": [ANSWER] * 2, "unwilling": [words] * 2},
        "courtroom",
        finish_reasons={"unwilling": finish_reason},
        strategy="none",
        beliefs="none",
    )
    assert set(predictions["willing"]["status"]) == {"valid"}
    assert set(predictions["unwilling"]["status"]) == {"invalid"}
    assert set(predictions["unwilling"]["reason"]) == {f"verdict of judge: {problem}"}
    rows = results.transcripts
    replies = rows[(rows["model"] == "unwilling") & (rows["source"] == "model")]
    assert set(replies["parse_status"]) == {"refused"}
    assert set(replies["text"]) == {words}
    scores = score_experiment(results)
    share = scores[(scores["metric"] == "replies_refused") & (scores["group"] == "overall")]
    assert share.set_index("model")["value"].to_dict() == {"unwilling": 1.0}
    (note,) = refusal_notes(scores)
    assert "unwilling: 100.0% of" in note and "refuse to answer" in note
    debate = next(iter(read_debates(results, "unwilling")))
    notices = [turn.notice for turn in debate.turns if turn.notice]
    assert notices and set(notices) == {f"Refused: {problem}; the raw reply"}
