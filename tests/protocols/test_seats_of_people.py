"""People in the seats of all protocols, with real calls, a real ledger and files of the inbox."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from courtroom_runs import EXPERIMENT, MODEL
from debate_jobs import debate_job
from fault_server import FaultServer
from moot.commands.preview import preview
from moot.core.errors import RunStoppedError, UserError
from moot.jobs.debates import write_transcripts
from moot.protocols import PROTOCOLS
from moot.protocols.forms import read_answer, write_answer
from moot.report.notes import people_note
from moot.scores.results import ExperimentResults
from people_in_debates import (
    WORDS,
    answer_all,
    answer_file,
    cases_of,
    hold,
    open_questions,
    plan_debates,
    statuses,
)

SEATS: dict[str, list[tuple[str, dict[str, Any], str]]] = {
    "courtroom": [
        ("judge", {}, "people"),
        ("prosecutor", {}, "people"),
    ],
    "feedback": [
        ("judge", {"rounds": 1}, "people"),
        ("judge", {"rounds": 1, "answer": "likelihood"}, "people"),
        ("debater 2", {"rounds": 2}, "people"),
        ("debater 1", {"rounds": 1, "sides": "opposed"}, "people"),
    ],
    "panel": [("judge_3", {"rounds": 2}, "opinions")],
    "debate": [
        ("judge", {"rebuttals": 1}, "people"),
        ("debater_1", {"rebuttals": 1, "turns": "in_turn"}, "people"),
    ],
    "human_panel": [("human", {"rounds": 2}, "opinions")],
    "synthetic_panel": [("panel", {"rounds": 1}, "opinions")],
    "conference": [
        (
            seat,
            {
                "rounds": 1,
                "graded_decisions": 1,
                "gradings": 1,
                "answer": answer,
                "evaluates_open_topics": True,
            },
            "conference",
        )
        for seat, answer in (
            ("judge", "json"),
            ("moderator", "label"),
            ("participant_2", "label"),
            ("evaluator", "label"),
            ("coder", "label"),
        )
    ],
    "agreement": [("judge", {"answer": "label"}, "agreement")],
    "grading": [("grader", {}, "agreement")],
    "stance": [("annotator", {"answer": "json"}, "people")],
    "polarity": [("annotator", {"prompting": "cot", "answer": "json"}, "people")],
    "zero_shot": [("expert", {}, "people"), ("expert", {"answer": "likelihood"}, "people")],
    "n_shot_cot": [("expert", {"shots": 2}, "people")],
    "self_consistency": [("expert", {"k": 3}, "people")],
    "four_step_cot": [("expert", {}, "people")],
    "reflexion": [("expert", {"reflections": 1}, "people")],
    "alone": [("judge", {"default_repetitions": 2}, "people")],
    "recall": [("reader", {}, "people")],
    "case_summary": [("clerk", {}, "caselaw")],
}
PARAMETERS: list[tuple[str, str, dict[str, Any], str]] = []
for protocol_name, protocol_seats in SEATS.items():
    PARAMETERS += [(protocol_name, *entry) for entry in protocol_seats]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_protocols_with_seats_are_tested() -> None:
    alike = {"few_shot", "cot"}  # the code of zero_shot and n_shot_cot
    seatless = {"recorded", "rejudge", "judging", "attribution"}
    assert set(SEATS) | alike | seatless == set(PROTOCOLS)


@pytest.mark.parametrize(("protocol", "seat", "params", "dataset"), PARAMETERS)
def test_a_person_takes_each_seat(
    protocol: str,
    seat: str,
    params: dict[str, Any],
    dataset: str,
    server: FaultServer,
    folder: Path,
) -> None:
    plan = plan_debates(server.url, protocol, {seat: "person"}, params=params, dataset=dataset)
    rows = hold(plan)
    count, waits = len(rows.loc[rows["kind"] == "conclusion"]), 0
    while count_of_answers := answer_all():
        assert set(statuses(rows)) == {"waiting"}
        assert count_of_answers <= 3 * count, "one question after the other, or some at once"
        waits += 1
        rows = hold(plan)
    assert waits, "the person was asked"
    assert set(statuses(rows)) <= {"valid", "invalid"}
    spoken_rows = rows[~rows["kind"].isin(["conclusion"]) & (rows["source"] != "computed")]
    assert set(spoken_rows.loc[spoken_rows["speaker"] == seat, "source"]) == {"human"}
    assert (spoken_rows["source"].eq("human") == spoken_rows["call_id"].eq("")).all(), (
        "and no other words are"
    )
    assert (
        not spoken_rows["parse_status"]
        .isin(["invalid", "failed"])[spoken_rows["source"] == "human"]
        .any()
    )
    request_count = server.count()
    pd.testing.assert_frame_equal(hold(plan), rows)
    assert server.count() == request_count, "no call is repeated"


def test_a_judge_sees_no_private_strategy(server: FaultServer, folder: Path) -> None:
    """The judge sees its own belief in words, but no strategy; no prompt mentions a person."""
    plan = plan_debates(server.url, "courtroom", {"judge": "person"}, repeats=2)
    pages: list[str] = []
    rows = hold(plan)
    assert len(open_questions()) == 4, "two cases, each of two repeats asked by itself"
    while open_questions():
        pages += [Path(str(path).replace(".json", ".md")).read_text() for path in open_questions()]
        answer_all()
        rows = hold(plan)
    plans = rows.loc[rows["kind"] == "strategy", "text"]
    assert len(plans)
    for page in pages:
        assert not [plan for plan in plans if plan in page]
        assert not re.search("tags such as|<facts>|JSON", page)
        assert "Prediction: NO or YES" in page
        assert "Confidence: a whole number from 0 to 100" in page
    last = [page for page in pages if page.startswith("# Judge: verdict")]
    assert len(last) == 4 and all(f"round 3:\nReasoning: {WORDS[:20]}" in page for page in last)
    beliefs = rows[(rows["speaker"] == "judge") & (rows["kind"] == "belief")]
    assert (
        len(beliefs) == 12
        and set(beliefs["prediction"]) == {"no"}
        and set(beliefs["confidence"]) == {0.0}
    )
    assert statuses(rows) == ["valid"] * 4


def test_two_people_in_one_debate_answer_independently(server: FaultServer, folder: Path) -> None:
    plan = plan_debates(
        server.url,
        "panel",
        {"judge_1": "person:ann", "judge_3": "person:bob"},
        dataset="opinions",
        params={"rounds": 2},
    )
    rows = hold(plan)
    questions = [json.loads(path.read_text()) for path in open_questions()]
    assert sorted(question["person"] for question in questions) == ["ann", "ann", "bob", "bob"]
    model_rows = rows[(rows["kind"] == "statement") & (rows["source"] == "model")]
    assert set(model_rows["speaker"]) == {"judge_2"} and len(model_rows) == 2, (
        "the model speaks meanwhile"
    )
    ann = [path for path in open_questions() if "judge_1" in path.name]
    for path in ann:
        form = json.loads(path.read_text())["form"]
        answer_file(path).write_text(
            write_answer({"statement": "I affirm.", "confidence": 5.0}, form)
        )
    rows = hold(plan)
    assert (
        set(rows.loc[rows["source"] == "human", "speaker"]) == {"judge_1"}
        and len(open_questions()) == 2
    )
    while answer_all():
        rows = hold(plan)
    assert statuses(rows) == ["valid", "valid"] and not rows["text"].str.contains("person").any()


def test_a_preview_counts_calls_and_answers_without_writing(
    server: FaultServer, folder: Path
) -> None:
    plan = plan_debates(server.url, "courtroom", {"judge": "person"})
    cases_of(plan, "people")
    request_count = server.count()
    row = preview(plan, Path("results")).iloc[0]
    assert (row["calls_to_make"], row["answers_by_people"], row["usd"]) == (24, 8, 0.0)
    assert not Path("data").exists() and server.count() == request_count
    hold(plan)
    files = {path: path.read_bytes() for path in Path("data").rglob("*") if path.is_file()}
    answer_all()
    row = preview(plan, Path("results")).iloc[0]
    assert (row["calls_in_ledger"], row["calls_to_make"], row["answers_by_people"]) == (8, 16, 6)
    assert {path: path.read_bytes() for path in files} == files
    assert len(list(Path("data").rglob("*.*"))) == len(files) + 2, "the two answers"
    unseated = preview(plan_debates(server.url, "courtroom", {}), Path("results")).iloc[0]
    assert (
        unseated["calls_to_make"] + unseated["calls_in_ledger"],
        pd.isna(unseated["answers_by_people"]),
    ) == (32, True)


def test_answers_of_people_do_not_count_for_the_budget(server: FaultServer, folder: Path) -> None:
    plan = plan_debates(
        server.url, "courtroom", {"judge": "person"}, keys={"budget": {"calls": 24}}
    )
    while hold(plan) is not None and answer_all():
        pass
    assert statuses(hold(plan)) == ["valid", "valid"]
    with pytest.raises(RunStoppedError, match="limit of 24 calls"):
        hold(plan_debates(server.url, "courtroom", {}, keys={"budget": {"calls": 24}}))


def test_a_rehearsal_seats_a_simulated_person(server: FaultServer, folder: Path) -> None:
    for protocol, seat, dataset in (
        ("courtroom", "judge", "people"),
        ("human_panel", "human", "opinions"),
    ):
        plan = plan_debates(
            server.url, protocol, {seat: "person"}, dataset=dataset, keys={"rehearsal": True}
        )
        rows = hold(plan)
        assert set(statuses(rows)) == {"valid"} and set(
            rows.loc[rows["speaker"] == seat, "source"]
        ) == {"human"}
    assert not Path("data/inbox").exists()


def test_arms_keep_the_seats_of_people_and_change_no_words_of_theirs(
    server: FaultServer, folder: Path
) -> None:
    arms = ("noise", "alone", "consultancy", "swap", "labels_swapped", "matched_calls")
    plan = plan_debates(server.url, "courtroom", {"defense": "person", "judge": "test"}, arms=arms)
    seats = {}
    for name, experiment in plan.experiments.items():
        seats[name.partition("=")[2]] = dict(experiment.params.seats)
    both = {"defense": "person", "judge": "test"}
    assert seats == {
        "": both,
        "noise": both,
        "consultancy": both,
        "labels_swapped": both,
        "alone": {"judge": "test"},
        "swap": {"prosecutor": "person", "judge": "test"},
        "matched_calls": {},
    }


@pytest.mark.parametrize(
    ("arm", "kind", "max_questions"),
    [("commit_first", "commitment", 1)],
)
def test_a_person_as_judge_answers_the_questions_of_an_arm(
    arm: str, kind: str, max_questions: int, server: FaultServer, folder: Path
) -> None:
    params = {"strategy": "none", "beliefs": "none"}
    plan = plan_debates(server.url, "courtroom", {"judge": "person"}, params=params, arms=[arm])
    cases, output, waits = cases_of(plan, "people"), Path("results/transcripts/0.parquet"), 0
    for _ in range(10):
        write_transcripts(
            debate_job(plan, f"{EXPERIMENT}-arm={arm}", MODEL, cases, shard=0),
            [cases],
            output,
        )
        rows = pd.read_parquet(output)
        if not answer_all():
            break
        assert "waiting" in statuses(rows)
        waits += 1
    arm_rows = rows[rows["kind"] == kind]
    assert (
        set(arm_rows["source"]) == {"human"}
        and 0 < arm_rows.groupby("debate_id").size().max() <= max_questions
    )
    assert waits >= 2 and set(statuses(rows)) == {"valid"}


def test_an_answer_of_a_person_is_read_or_rejected_with_one_message(
    server: FaultServer, folder: Path
) -> None:
    hold(plan_debates(server.url, "cot", {"expert": "person"}))
    question = json.loads(open_questions()[0].read_text())
    path = Path("a.txt")
    answer = read_answer(
        "Confidence: 70 %\nprediction : yes\nFactors:\n- two arrests | HIGH | they are recent |"
        " yes\n",
        question["form"],
        path,
    )
    assert answer == {
        "factors": [
            {"factor": "two arrests", "weight": "high", "reasoning": "they are recent | yes"}
        ],
        "prediction": "YES",
        "confidence": 70,
    }
    for text, message in (
        ("Prediction: maybe\nConfidence: 5", "prediction 'maybe'; expected NO or YES"),
        ("Confidence: 5", "0 lines 'Prediction: NO or YES'"),
        ("Prediction: YES\nPrediction: NO\nConfidence: 5", "2 lines 'Prediction: NO or YES'"),
        ("Prediction: YES\nConfidence: 5.5", "expected a whole number from 0 to 100"),
        (
            "Prediction: YES\nConfidence: 5\nFactors:\n- x | high",
            "expected factor | weight | reasoning",
        ),
        ("I think so.\nPrediction: YES\nConfidence: 5", "'I think so.' belongs to no field"),
    ):
        with pytest.raises(UserError) as caught:
            read_answer(text, question["form"], path)
        assert str(caught.value).startswith("a.txt: ") and message in str(caught.value)


def test_an_unusable_answer_stops_only_its_own_debate(server: FaultServer, folder: Path) -> None:
    plan = plan_debates(server.url, "zero_shot", {"expert": "person"})
    hold(plan)
    first, second = open_questions()
    answer_file(first).write_text("Prediction: YES\nConfidence: very\n")
    answer_file(second).write_text("Prediction: YES\nConfidence: 80\n")
    rows = hold(plan)
    assert sorted(statuses(rows)) == ["valid", "waiting"]
    reasons = [
        json.loads(parsed)["reason"] for parsed in rows.loc[rows["kind"] == "conclusion", "parsed"]
    ]
    assert any(
        reason.startswith("an answer cannot be used: ") and "'very'" in reason for reason in reasons
    )
    answer_file(first).write_text("Prediction: NO\nConfidence: 80\n")
    assert statuses(hold(plan)) == ["valid", "valid"]


def test_tables_name_the_seats_of_people(server: FaultServer, folder: Path) -> None:
    for seats, note in (
        ({"judge": "person"}, "In trial people sit as judge; all other seats are the model's"),
        ({}, ""),
    ):
        view = plan_debates(server.url, "courtroom", seats).view("trial")
        assert people_note(ExperimentResults(Path(), "trial", view)) == note


def test_an_obsolete_question_is_withdrawn_and_its_answer_stays(
    server: FaultServer, folder: Path
) -> None:
    hold(plan_debates(server.url, "courtroom", {"judge": "person"}))
    first, second = open_questions()
    answer_file(first).write_text("Prediction: YES\nConfidence: 80\n")
    hold(plan_debates(server.url, "courtroom", {"prosecutor": "person"}))
    assert {path.name for path in open_questions()} == {
        "repeat-0-round-1-prosecutor-strategy.question.json"
    }
    assert not second.with_suffix(".md").exists() and answer_file(first).exists() and first.exists()
    hold(plan_debates(server.url, "courtroom", {}))
    assert open_questions() == []


def test_a_person_judges_debates_again(server: FaultServer, folder: Path) -> None:
    source = {"protocol": "courtroom", "dataset": "people", "models": ["test"], "cases": 2}
    params = {"source_experiment": "held", "source_model": "test", "seats": {"judge": "person"}}
    experiments = {"held": source, "trial": {**source, "protocol": "rejudge", "params": params}}
    plan = plan_debates(server.url, "rejudge", {}, keys={"experiments": experiments})
    cases, outputs = (
        cases_of(plan, "people"),
        {name: Path(f"{name}.parquet") for name in experiments},
    )

    def judge(name: str) -> pd.DataFrame:
        artifacts = {"debates": outputs["held"]} if name == "trial" else {}
        job = debate_job(plan, name, "test", cases, shard=0, artifacts=artifacts)
        write_transcripts(job, [cases], outputs[name])
        return pd.read_parquet(outputs[name])

    judge("held")
    rows = judge("trial")
    while answer_all():
        rows = judge("trial")
    beliefs = rows[rows["kind"] == "belief"]
    assert statuses(rows) == ["valid", "valid"] and set(
        beliefs.loc[beliefs["speaker"] == "judge", "source"]
    ) == {"human"}
    assert len(beliefs[beliefs["speaker"] == "judge"]) == 6, "after each of three rounds"
