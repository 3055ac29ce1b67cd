"""Replies whose words contradict their answer field are marked, counted and shown."""

import json
from pathlib import Path

import pytest

from answers_by_model import hold_debates
from fault_server import FaultServer
from moot.core.cases import Task
from moot.llm.parsing.ladder import parse_reply
from moot.protocols.contradictions import find_contradiction
from moot.protocols.reply_schemas import prediction_schema
from moot.report.transcript_pages import read_debates
from moot.scores import score_experiment
from moot.scores.contradiction_scores import contradiction_notes
from moot.studies.courtroom.people.nlsy97_columns import TASK as REARREST
from moot.studies.feedback.data_caselaw import TASK as CASELAW

NO_REARREST = "The defendant will not be arrested again."


def contradiction(task: Task, reply: str) -> str:
    parsed = parse_reply(reply, prediction_schema(task, reasoning=True))
    assert parsed.value is not None, parsed
    return find_contradiction(task, parsed.value, reply)


def reply(words: str, prediction: str, confidence: int = 70) -> str:
    return json.dumps({"reasoning": words, "prediction": prediction, "confidence": confidence})


@pytest.mark.parametrize(
    ("words", "prediction", "confidence"),
    [
        (NO_REARREST, "YES", 70),
        (
            "He has a steady job. He will most likely not be rearrested within three years.",
            "YES",
            70,
        ),
        ("Given his record, the defendant is very likely to reoffend.", "NO", 70),
        ("The defendant is unlikely to commit another crime.", "YES", 60),
        ("I see a 30 % chance that the defendant will be rearrested.", "YES", 70),
        ("There is an 80% probability that the defendant will be arrested again.", "NO", 80),
        ("30 % that the defendant will be rearrested.", "NO", 30),
        ("I am 30 % confident that the defendant will be rearrested.", "NO", 70),
        ("He has three prior arrests. My prediction is YES.", "NO", 70),
        (
            (
                "The prosecution says that he will reoffend. I disagree: he will not be arrested"
                " again."
            ),
            "YES",
            70,
        ),
    ],
)
def test_words_that_contradict_the_field_are_found(
    words: str, prediction: str, confidence: int
) -> None:
    assert contradiction(REARREST, reply(words, prediction, confidence)) in words
    assert contradiction(REARREST, reply(words, prediction, confidence))


@pytest.mark.parametrize(
    ("words", "prediction"),
    [
        (NO_REARREST, "NO"),
        ("I see a 30 % chance that the defendant will be rearrested.", "NO"),
        ("There is a 70% chance that he will be rearrested.", "YES"),
        ("The defense argues that the defendant will not be arrested again.", "YES"),
        ("If he keeps his job, he will not be arrested again.", "YES"),
        ("Although he will likely be rearrested for something small, the risk is moderate.", "NO"),
        ("There is no evidence that the defendant will be rearrested.", "NO"),
        ("We cannot be certain that he will not be arrested again.", "YES"),
        ("It is possible that he will reoffend.", "NO"),
        ("He was arrested again in 2001 and has served a sentence.", "NO"),
        ('His mother wrote: "He will not be arrested again."', "YES"),
        ("He could be arrested again. He may not be.", "YES"),
        ("YES means that the defendant will be arrested again within three years.", "NO"),
        (
            "Some young adults will not be arrested again. The defendant will be arrested again.",
            "YES",
        ),
        ("no", "YES"),
        ("", "YES"),
    ],
)
def test_words_that_fit_the_field_are_no_contradiction(words: str, prediction: str) -> None:
    assert contradiction(REARREST, reply(words, prediction)) == ""


def test_contradictions_in_free_text_and_of_other_tasks() -> None:
    assert contradiction(REARREST, f"{NO_REARREST}\nPrediction: YES") == NO_REARREST
    assert contradiction(
        CASELAW, reply("The contract was broken, and the plaintiff should win.", "DEFENDANT")
    )
    assert contradiction(CASELAW, reply("The plaintiff will lose.", "PLAINTIFF"))
    assert not contradiction(
        CASELAW, reply("The plaintiff argues that he should win.", "DEFENDANT")
    )
    assert not contradiction(CASELAW, reply("The defendant will not prevail.", "PLAINTIFF"))


def test_contradictions_are_counted_and_shown(server: FaultServer, tmp_path: Path) -> None:
    steady = json.dumps(
        {"prediction": "YES", "confidence": 70, "reasoning": "The person has a job."}
    )
    contrary = json.dumps(
        {
            "prediction": "YES",
            "confidence": 70,
            "reasoning": "The person will not be arrested again.",
        }
    )
    replies = {"steady": [steady, steady], "contrary": [contrary, steady]}
    results, predictions = hold_debates(
        server, tmp_path, replies, "courtroom", strategy="none", beliefs="none"
    )
    assert set(predictions["contrary"]["prediction"]) == {"yes"}, "the field counts"
    scores = score_experiment(results)
    share = scores[
        (scores["metric"] == "replies_contradictory") & (scores["group"] == "overall")
    ].set_index("model")
    flags = (
        results.transcripts.query("model == 'contrary'")["parsed"]
        .str.contains('"contradiction"')
        .sum()
    )
    assert 0 < flags < 12
    assert share["value"].to_dict() == pytest.approx({"steady": 0.0, "contrary": flags / 12})
    (note,) = contradiction_notes(scores)
    assert "contrary" in note and f"{flags / 12:.1%} of 12 replies" in note
    notices = []
    for debate in read_debates(results, "contrary"):
        notices += [turn.notice for turn in debate.turns if turn.notice]
    assert len(notices) == flags
    assert set(notices) == {
        "Contradictory: the answer is yes, the words say: The person will not be arrested again."
    }


def test_a_rule_may_make_contradictions_invalid(server: FaultServer, tmp_path: Path) -> None:
    contrary = json.dumps(
        {
            "prediction": "YES",
            "confidence": 70,
            "reasoning": "The person will not be arrested again.",
        }
    )
    _, predictions = hold_debates(
        server,
        tmp_path,
        {"contrary": [contrary] * 2},
        "courtroom",
        strategy="none",
        beliefs="none",
        contradictory="invalid",
    )
    assert set(predictions["contrary"]["status"]) == {"invalid"}
    assert set(predictions["contrary"]["reason"]) == {
        "verdict of judge: the words contradict the prediction: The person will not be arrested"
        " again."
    }
