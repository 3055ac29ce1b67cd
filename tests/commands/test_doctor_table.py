"""Test the report on a user's table, and that the entry that it prints can be read."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from moot.commands.doctor_table import describe_table
from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded

TURNS = [(1, "kim", "A"), (2, "lee", "B"), (3, "kim", "B")]
TALK = [
    {
        "thread_id": f"t{thread}",
        "seq": turn,
        "author": speaker,
        "body": f"I say {turn} things.",
        "choice": answer,
        "gold": "B",
    }
    for thread, (turn, speaker, answer) in product(range(3), TURNS)
]
VOTES = [
    {
        "case_id": f"r{run}",
        "story": f"s{run % 2}",
        "juror": juror,
        "rationale": "It is so because.",
        "vote": vote,
    }
    for run, (juror, vote) in product(range(4), (("m", "YES"), ("n", "NO"), ("m", None)))
]


def load_printed_entry(report: str) -> Loaded:
    """Load the cases with the entry that a report prints."""
    entry = yaml.safe_load(report.partition("paste it:\n\n")[2])
    loader = LOADERS["transcripts"]
    options = loader.options.model_validate(entry["datasets"]["mine"])
    loaded = loader.load(options, LoadContext("mine", Path(), Path(), 1))
    assert loader.records is not None and list(
        loader.records(options, LoadContext("mine", Path(), Path(), 1))
    )
    return loaded


def printed_columns(report: str) -> dict[str, Any]:
    return dict(yaml.safe_load(report.partition("paste it:\n\n")[2])["datasets"]["mine"]["columns"])


def test_a_chat_is_recognised_and_its_entry_can_be_pasted(tmp_path: Path) -> None:
    path = tmp_path / "chat.csv"
    pd.DataFrame(TALK).to_csv(path, index=False)
    report = describe_table(path)
    assert printed_columns(report) == {
        "debate": "thread_id",
        "turn": "seq",
        "speaker": "author",
        "text": "body",
        "answer": "choice",
        "truth": "gold",
    }
    assert "Read as guessed: 9 rows read, 3 debates, 3 cases." in report and "Missing" not in report
    assert [(case.case_id, case.target) for case in load_printed_entry(report).cases] == [
        ("t0", "b"),
        ("t1", "b"),
        ("t2", "b"),
    ]


def test_votes_without_truth_are_judges_and_missing_columns_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in VOTES))
    report = describe_table(path)
    assert printed_columns(report) == {
        "debate": "case_id",
        "case": "story",
        "speaker": "",
        "judge": "juror",
        "text": "rationale",
        "answer": "vote",
    }
    assert (
        "Missing: `truth`, which enables accuracy, and who changes to right and to wrong." in report
    )
    assert [case.case_id for case in load_printed_entry(report).cases] == ["s0", "s1"]


def test_faulty_rows_are_reported_with_the_guess(tmp_path: Path) -> None:
    path = tmp_path / "chat.csv"
    pd.DataFrame([*TALK, TALK[0]]).to_csv(path, index=False)
    report = describe_table(path)
    assert "With this guess the table cannot be read yet:" in report
    assert f"{path}: row 10, column 'seq': found '1', expected each turn of a debate once" in report


def test_a_contradictory_guess_is_reported_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "chat.csv"
    pd.DataFrame(TALK).rename(columns={"author": "x"}).to_csv(path, index=False)
    report = describe_table(path)
    assert (
        "configuration: datasets.mine.columns: neither the column of the speaker nor that of the"
        " judge" in report
    )
    assert "pydantic" not in report


def test_files_without_debates_get_different_messages(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    pd.DataFrame({"facts": ["A long text."], "outcome": ["won"]}).to_csv(path, index=False)
    assert "No column gives the debate of a turn" in describe_table(path)
    with pytest.raises(UserError, match=r"none\.csv: no such file"):
        describe_table(tmp_path / "none.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match=r"folder: a folder without any; expected one of \.csv"):
        describe_table(tmp_path / "folder")
    path.write_text("")
    with pytest.raises(UserError, match="the file is empty"):
        describe_table(path)
    (tmp_path / "broken.jsonl").write_text("[1]\n{\n")
    with pytest.raises(UserError, match=r"broken\.jsonl"):
        describe_table(tmp_path / "broken.jsonl")


EXACT = {
    "debate": lambda number: f"anthropic_claude_vs_openai_gpt_{number // 4:03}",
    "round": lambda number: "" if number % 4 > 1 else number % 4 + 1,
    "speaker": lambda number: ["pro", "con", "", ""][number % 4],
    "text": lambda number: ["I am right.", "No.", "Verdict.", "Verdict."][number % 4],
    "visibility": lambda number: "private" if number % 4 == 1 else "",
    "judge": lambda number: "A" if number % 4 > 1 else "",
    "judge_repeat": lambda number: number % 4 - 2 if number % 4 > 1 else "",
    "answer": lambda number: ("pro" if number % 3 else "con") if number % 4 > 1 else "",
    "truth": lambda number: "pro",
    "kind": lambda number: "speech",
    "case": lambda number: f"motion {number // 8}",
}


@pytest.mark.parametrize("spelling", [str, str.upper, str.title])
@pytest.mark.parametrize("left_out", ["", "round", "visibility", "judge_repeat", "kind", "case"])
def test_columns_named_like_the_options_are_found(
    tmp_path: Path, left_out: str, spelling: Callable[[str], str]
) -> None:
    names = [name for name in EXACT if name != left_out]
    columns = {spelling(name): list(map(EXACT[name], range(48))) for name in names}
    pd.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    report = describe_table(tmp_path / "t.csv")
    assert printed_columns(report) == {name: spelling(name) for name in names}
    assert "Read as guessed: 48 rows read, 12 debates" in report
    load_printed_entry(report)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("round", ["first", "second"]),
        ("belief", [30, 70]),
        ("confidence", [130, 70]),
        ("answers", ["yes", "no"]),
        ("turn", ["1", ""]),
        ("truth", ["", ""]),
    ],
)
def test_a_column_whose_cells_cannot_be_read_is_not_taken(
    tmp_path: Path, name: str, cells: list[Any]
) -> None:
    rows = [
        {"debate": f"d{number // 2}", "speaker": "ab"[number % 2], "text": "I say so."}
        | {name: cells[number % 2]}
        for number in range(8)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    assert name not in printed_columns(describe_table(tmp_path / "t.csv"))


@pytest.mark.parametrize("truth", ["yes", "guilty", "1"])
def test_beliefs_with_one_known_label_get_a_second_one(tmp_path: Path, truth: str) -> None:
    rows = [
        {"debate": f"d{number // 2}", "speaker": "ab"[number % 2], "text": "I say so."}
        | {"belief": 0.5 + number / 20, "truth": truth}
        for number in range(8)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    loaded = load_printed_entry(describe_table(tmp_path / "t.csv"))
    assert len(loaded.task.labels) == 2 and loaded.task.positive == truth
