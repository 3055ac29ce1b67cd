"""Test the report on a user's table, and that the entry that it prints can be read."""

import json
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
    entry = yaml.safe_load(report.partition("guessed:\n\n")[2])
    loader = LOADERS["transcripts"]
    options = loader.options.model_validate(entry["datasets"]["mine"])
    loaded = loader.load(options, LoadContext("mine", Path(), Path(), 1))
    assert loader.records is not None and list(
        loader.records(options, LoadContext("mine", Path(), Path(), 1))
    )
    return loaded


def printed_columns(report: str) -> dict[str, Any]:
    return dict(yaml.safe_load(report.partition("guessed:\n\n")[2])["datasets"]["mine"]["columns"])


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
        "Missing: `truth`, which brings accuracy, and who changes to right and to wrong." in report
    )
    assert [case.case_id for case in load_printed_entry(report).cases] == ["s0", "s1"]


def test_faulty_rows_are_reported_with_the_guess(tmp_path: Path) -> None:
    path = tmp_path / "chat.csv"
    pd.DataFrame([*TALK, TALK[0]]).to_csv(path, index=False)
    report = describe_table(path)
    assert "As guessed it cannot be read yet:" in report
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
    assert "No column says which debate a turn belongs to" in describe_table(path)
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
