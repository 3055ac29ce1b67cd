"""Test the report on a user's table, and that the entry that it prints can be read."""

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
        "debate": f"t{thread}",
        "Turn": turn,
        "speaker": speaker,
        "text": f"I say {turn} things.",
        "answer": answer,
        "truth": "B",
    }
    for thread, (turn, speaker, answer) in product(range(3), TURNS)
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
        "debate": "debate",
        "turn": "Turn",
        "speaker": "speaker",
        "text": "text",
        "answer": "answer",
        "truth": "truth",
    }
    assert "Read as guessed: 9 rows read, 3 debates, 3 cases." in report and "Missing" not in report
    assert [(case.case_id, case.target) for case in load_printed_entry(report).cases] == [
        ("t0", "B"),
        ("t1", "B"),
        ("t2", "B"),
    ]


def test_missing_columns_and_what_they_enable_are_named(tmp_path: Path) -> None:
    path = tmp_path / "chat.csv"
    pd.DataFrame(TALK).drop(columns="truth").to_csv(path, index=False)
    assert "Missing: `truth`, which enables accuracy, and who changes" in describe_table(path)


def test_a_column_with_another_name_is_not_guessed(tmp_path: Path) -> None:
    """A column of minutes was taken for the number of the debate."""
    path = tmp_path / "chat.csv"
    table = pd.DataFrame(TALK).rename(columns={"debate": "session_minutes"})
    table.to_csv(path, index=False)
    report = describe_table(path)
    assert "No column is named `debate`" in report and "loader: transcripts`" in report


def test_faulty_rows_are_reported_with_the_guess(tmp_path: Path) -> None:
    path = tmp_path / "chat.csv"
    pd.DataFrame([*TALK, TALK[0]]).to_csv(path, index=False)
    report = describe_table(path)
    assert "With this guess the table cannot be read yet:" in report
    message = "row 10, column 'Turn': found '1', expected each turn of a debate once"
    assert f"{path}: {message}" in report


def test_a_contradictory_guess_is_reported_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "chat.csv"
    pd.DataFrame(TALK).rename(columns={"speaker": "x"}).to_csv(path, index=False)
    report = describe_table(path)
    assert (
        "configuration: datasets.mine.columns: neither the column of the speaker nor that of the"
        " judge" in report
    )
    assert "pydantic" not in report


def test_files_without_debates_get_different_messages(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    pd.DataFrame({"facts": ["A long text."], "outcome": ["won"]}).to_csv(path, index=False)
    assert "No column is named `debate`" in describe_table(path)
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
