"""Test debates in a user's table: each file format gives the same debates."""

from operator import attrgetter
from pathlib import Path

import pandas as pd
import pytest

from debate_tables import JURIES, JURY, TRIAL, TRIALS, read_transcripts, write_table


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "json", "parquet", "xlsx"])
def test_every_kind_of_file_gives_the_same_debates(tmp_path: Path, ending: str) -> None:
    shuffled = [TRIAL[number] for number in (2, 4, 0, 3, 1)]
    loaded, debates = read_transcripts(
        write_table(tmp_path / f"trials.{ending}", shuffled), **TRIALS
    )
    assert {case.case_id: case.target for case in loaded.cases} == {
        "t1": "innocent",
        "t2": "guilty",
    }
    assert (loaded.task.labels, loaded.task.positive) == (("innocent", "guilty"), "guilty")
    first_debate, second_debate = debates
    fields = attrgetter("speaker", "text", "prediction")
    assert list(map(fields, first_debate.utterances)) == [
        ("Ann", "He was at home.", None),
        ("Bob", "He was seen.", None),
        ("Judge", "Hm.", "guilty"),
    ]
    assert first_debate.utterances[2].parsed == {"distribution": {"guilty": 0.75, "innocent": 0.25}}
    assert (
        first_debate.method,
        first_debate.model,
        first_debate.prediction,
        first_debate.score,
        first_debate.judge,
    ) == (
        "debate",
        "recorded",
        "guilty",
        0.75,
        "",
    )
    assert (second_debate.prediction, second_debate.score) == (None, 0.5), (
        "equal probabilities give no prediction"
    )
    assert second_debate.problem == "undecided: equal beliefs in several labels"
    assert loaded.cleaning == {"rows read": 5, "debates": 2, "cases": 2}


def test_a_spreadsheet_with_semicolons_and_decimal_commas_gives_the_same_debates(
    tmp_path: Path,
) -> None:
    expected = read_transcripts(write_table(tmp_path / "t.csv", TRIAL), **TRIALS)
    table = tmp_path / "german.csv"
    pd.DataFrame(TRIAL).replace({"p": {r"\.": ","}}, regex=True).to_csv(table, index=False, sep=";")
    assert read_transcripts(table, **TRIALS)[1] == expected[1]


def test_a_folder_and_a_pattern_are_one_table(tmp_path: Path) -> None:
    expected = read_transcripts(write_table(tmp_path / "trials.csv", TRIAL), **TRIALS)[1]
    folder = tmp_path / "parts"
    folder.mkdir()
    write_table(folder / "t-1.tsv", TRIAL[:3])
    write_table(folder / "t-2.csv", TRIAL[3:])
    (folder / "notes.md").write_text("")
    assert read_transcripts(folder, **TRIALS)[1] == expected, "other files are ignored"
    assert read_transcripts(folder / "t-*", **TRIALS)[1] == expected


def test_members_of_a_group_can_answer_in_their_utterances(tmp_path: Path) -> None:
    answers = (("Kim", "A"), ("Lee", "B"), ("Kim", ""), ("Kim", "B"))
    table = pd.DataFrame(answers, columns=["speaker", "said"]).assign(debate="d", text="So.")
    rows = table.to_dict("records")
    _, debates = read_transcripts(
        write_table(tmp_path / "chat.csv", rows), columns={"answer": "said"}
    )
    predictions = {(debate.method, debate.judge): debate.prediction for debate in debates}
    assert predictions == {
        ("debate", "Kim"): "b",
        ("debate", "Lee"): "b",
        ("first answers", "Kim"): "a",
        ("first answers", "Lee"): "b",
    }


@pytest.mark.parametrize("first_round", [0, 1])
def test_a_blank_first_answer_is_not_replaced_by_the_second(
    tmp_path: Path, first_round: int
) -> None:
    answers = (("Kim", "A", 0), ("Lee", "", 0), ("Kim", "B", 1), ("Lee", "B", 1))
    table = pd.DataFrame(answers, columns=["speaker", "said", "round"]).assign(debate="d", text="")
    table["round"] += first_round
    rows = table.to_dict("records")
    path, without_rounds = tmp_path / "chat.csv", {"answer": "said"}
    for columns in (without_rounds, {**without_rounds, "round": "round"}):
        _, debates = read_transcripts(write_table(path, rows), columns=columns)
        first = [debate for debate in debates if debate.method == "first answers"]
        assert [(debate.judge, debate.prediction, debate.problem) for debate in first] == [
            ("Kim", "a", ""),
            ("Lee", None, "the record says nothing"),
        ]


def test_jurors_are_judges_with_personas_and_repeats(tmp_path: Path) -> None:
    loaded, debates = read_transcripts(write_table(tmp_path / "jury.jsonl", JURY), **JURIES)
    fields = attrgetter("case_id", "repeat", "judge", "persona", "judge_repeat", "prediction")
    verdicts = list(map(fields, debates))
    assert verdicts == [
        ("a", 0, "m", "mild", 0, "yes"),
        ("a", 0, "m", "mild", 1, "no"),
        ("a", 0, "m", "stern", 0, "yes"),
        ("a", 0, "n", "mild", 0, None),
        ("a", 1, "m", "mild", 0, "no"),
    ]
    assert [case.target for case in loaded.cases] == [""], "without truth"
    reasons = {
        utterance.speaker: (utterance.private, utterance.source)
        for utterance in debates[0].utterances
    }
    assert reasons == dict.fromkeys(
        ["m · mild", "m · mild · time 2", "m · stern", "n · mild"], (True, "model")
    )


def test_speeches_without_answers_are_debates_that_a_model_can_judge(tmp_path: Path) -> None:
    path = write_table(tmp_path / "talk.csv", [{"debate": "d", "speaker": "Kim", "text": "Yes."}])
    loaded, [debate] = read_transcripts(path, labels={"n": "no", "y": "yes"})
    assert (debate.prediction, debate.problem, loaded.task.labels) == (
        None,
        "no answer was recorded",
        ("no", "yes"),
    )
