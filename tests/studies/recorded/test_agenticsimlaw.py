"""The published files of AgenticSimLaw: answers about the people of a table, and their faults."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from messages import refusal
from moot.datasets.debate_records import RecordedDebate
from recorded_debates import read_records

Record = dict[str, Any]
COUNT, FAULTY = 6, 3


def vignette(number: int) -> Record:
    truth = ("True", "False")[number % 2]
    return {"y_arrestedafter2002": truth, "sex": "male", "race": "white", "age": 20}


def answer(number: int) -> Record:
    return {
        "model_name": "m",
        "case_id": number,
        "repeat_id": 1,
        "prediction": ("YES", "NO")[number % 2],
        "confidence": 70,
        "ground_truth": ("True", "False")[number % 2],
        "yes_votes": 2,
    }


ANSWERS, PEOPLE = list(map(answer, range(COUNT))), list(map(vignette, range(COUNT)))


def read(
    folder: Path, answers: list[Record], people: list[Record] = PEOPLE, **options: Any
) -> list[RecordedDebate]:
    files = folder / "recorded" / "agenticsimlaw"
    files.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(people).to_csv(files / "people.csv", index=False)
    pd.DataFrame(answers).to_csv(files / "answers.csv", index=False)
    records = {"vignettes": "people.csv", "records": {"single": ["answers.csv"]}}
    targets, debates = read_records("agenticsimlaw", folder, source="local", **records, **options)
    assert list(targets.values()) == ["yes", "no"] * (COUNT // 2)
    return debates


def test_an_answer_has_its_confidence_and_its_votes(tmp_path: Path) -> None:
    first, *_ = read(tmp_path, ANSWERS)
    place = (first.method, first.model, first.case_id, first.repeat)
    assert place == ("single", "m", "vignette-0", 0)
    assert (first.prediction, first.confidence, first.problem) == ("yes", 70, "")
    assert [utterance.parsed for utterance in first.utterances] == [{"yes": 2}]


def test_prompts_are_methods_and_words_for_no_answer_can_be_added(tmp_path: Path) -> None:
    of_both = [answer(0), answer(1) | {"prediction": "PASS"}]
    answers = []
    for prompt in ("cot", "plain"):
        answers += [{"prompt_type": prompt, **row} for row in of_both]
    with refusal():
        read(tmp_path, answers)
    debates = read(tmp_path, answers, no_answer=["PASS"])
    assert [(debate.method, debate.case_id, debate.problem) for debate in debates] == [
        ("single, cot", "vignette-0", ""),
        ("single, cot", "vignette-1", "the record says PASS"),
        ("single, plain", "vignette-0", ""),
        ("single, plain", "vignette-1", "the record says PASS"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"prediction": "perhaps"},
        {"case_id": "x"},
        {"case_id": -1},
        {"case_id": COUNT},
        {"repeat_id": "first"},
        {"confidence": 101},
        {"ground_truth": "perhaps"},
        {"ground_truth": "True"},
        {"yes_votes": "two"},
        {"case_id": f"{FAULTY - 1} ", "ground_truth": "True"},
    ],
)
def test_a_bad_answer_is_named_with_its_row(tmp_path: Path, change: Record) -> None:
    answers = [dict(row) for row in ANSWERS]
    answers[FAULTY] |= change
    with refusal():
        read(tmp_path, answers)


def test_a_bad_outcome_of_a_person_is_named_with_its_row(tmp_path: Path) -> None:
    people = [dict(row) for row in PEOPLE]
    people[FAULTY]["y_arrestedafter2002"] = "2"
    with refusal():
        read(tmp_path, ANSWERS, people)
