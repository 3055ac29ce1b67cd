"""Test that each reader reports a damaged artifact in one message with a remedy."""

import io
import json
import re
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc
import pytest

from import_calls import import_files
from messages import refusal
from moot.core.artifacts import (
    count_rows,
    describe,
    find_waiting_rows,
    read_cases,
    read_chunks,
    read_frame,
    read_frames,
    read_metadata,
    read_table,
    repeats_by_case,
    rows_by_debate,
    write_cases,
    write_frame,
    write_rows,
)
from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.schemas import SCHEMAS
from moot.workflow.resumed_debates import read_times_resumed


def replace_in_schema(content: bytes, old: bytes, new: bytes) -> bytes:
    """Replace bytes in the schema of an artifact, which is stored in base64."""
    return re.sub(
        rb"[A-Za-z0-9+/=]{400,}",
        lambda match: b64encode(b64decode(match[0]).replace(old, new)),
        content,
    )


READERS: list[Callable[[Path], object]] = [
    read_table,
    read_frame,
    lambda path: read_frame(path, ["case_id"]),
    lambda path: read_frames([path]),
    lambda path: list(read_chunks(path, 10)),
    read_cases,
    read_metadata,
    count_rows,
]
TASK = Task("the case", "Who won?", ("no", "yes"), "yes")
CASES = [
    Case(f"c{number}", "mine", "test", f"Facts {number}. " * 50, "yes", ("yes",), {}, number)
    for number in range(99)
]


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "results" / "cases" / "mine.parquet"
    write_cases(path, CASES, TASK, describe())
    return path


def make_foreign_table(content: bytes) -> bytes:
    stream = io.BytesIO()
    pd.DataFrame({"case_id": ["a"], "price": [1]}).to_parquet(stream)
    return stream.getvalue()


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "no bytes": lambda _: b"",
    "cut in the header": lambda content: content[:3],
    "cut in the middle": lambda content: content[: len(content) // 2],
    "cut in the footer": lambda content: content[:-20],
    "cut by a byte": lambda content: content[:-1],
    "zeros": lambda content: bytes(len(content)),
    "a flipped page": (
        lambda content: content[:4] + bytes(byte ^ 255 for byte in content[4:4000]) + content[4000:]
    ),
    "a flipped footer": (
        lambda content: (
            content[:-300] + bytes(byte ^ 255 for byte in content[-300:-8]) + content[-8:]
        )
    ),
    "a text": lambda _: b"case_id,text\n1,2\n",
    "another's": make_foreign_table,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_artifact_is_named_with_a_remedy(cases: Path, damage: str) -> None:
    cases.write_bytes(DAMAGES[damage](cases.read_bytes()))
    read_footer_alone = {read_metadata, count_rows} if damage == "a flipped page" else set()
    for read_artifact in (reader for reader in READERS if reader not in read_footer_alone):
        with pytest.raises(UserError) as raised:
            read_artifact(cases)
        message = str(raised.value)
        assert message.startswith(f"{cases}: damaged, or not written by moot (")
        assert "Delete it and run the same command again" in message
        assert "\n" not in message and len(message) < 400


@pytest.mark.parametrize("replacement", [b"quest\x01on", b"quest\xc8on", b"questiom"])
def test_a_damaged_task_is_named_with_a_remedy(cases: Path, replacement: bytes) -> None:
    cases.write_bytes(replace_in_schema(cases.read_bytes(), b"question", replacement))
    with refusal():
        read_cases(cases)


def test_a_folder_or_a_missing_artifact_is_named(cases: Path) -> None:
    with refusal():
        cases.unlink()
        cases.mkdir()
        read_frame(cases)
    with refusal():
        read_frame(cases.with_name("other.parquet"))


def test_a_missing_column_is_named(cases: Path) -> None:
    with refusal():
        read_frame(cases, ["case_id", "no_such_column"])


def test_the_remedy_for_a_shipped_file_is_to_restore_it(
    monkeypatch: pytest.MonkeyPatch, cases: Path
) -> None:
    monkeypatch.setattr("moot.core.artifacts.SHIPPED", cases.parent)
    shipped = cases.parent / "data" / "mine.parquet"
    shipped.parent.mkdir()
    shipped.write_bytes(cases.read_bytes()[:99])
    with refusal():
        read_cases(shipped)


def test_a_damaged_shard_was_never_resumed(cases: Path) -> None:
    cases.write_bytes(cases.read_bytes()[:-30])
    assert read_times_resumed(cases, defers_replies=True, is_retry=True) == 0


def test_rows_of_debates_are_read_by_case_and_repeat(tmp_path: Path) -> None:
    path, ended, waiting = tmp_path / "0.parquet", {"status": "valid"}, {"status": "waiting"}
    turns = [("b", 1, "conclusion", ended), ("a", 0, "opening", None), ("a", 2, "opening", None)]
    turns += [
        ("a", 2, "conclusion", waiting),
        ("b", 1, "note", waiting),
        ("c", 0, "conclusion", None),
    ]
    rows = [
        {
            **dict.fromkeys(SCHEMAS["transcripts"].names),
            **{"model": "m", "case_id": case_id, "repeat": repeat, "turn": turn, "kind": kind},
            **{"debate_id": f"{case_id}#{repeat}", "parsed": json.dumps(parsed)},
        }
        for turn, (case_id, repeat, kind, parsed) in enumerate(turns)
    ]
    assert write_rows(path, "transcripts", rows, describe("e")) == 6
    by_debate = rows_by_debate([path], ["case_id", "repeat", "turn"], pc.field("turn") < 5)
    assert list(by_debate) == [("b", 1), ("a", 0), ("a", 2)]
    assert [row["turn"] for row in by_debate["b", 1] + by_debate["a", 2]] == [0, 4, 2, 3]
    assert repeats_by_case(by_debate) == {"a": [0, 2], "b": [1]}
    frame = read_frame(path)
    assert find_waiting_rows(frame).tolist() == [False, False, True, True, False, False]
    write_frame(path, "transcripts", frame.assign(age=[1] * 6), describe("e"))
    assert read_frame(path, ["turn", "age"]).to_numpy().tolist() == [[turn, 1] for turn in range(6)]


def test_sources_are_named_by_their_paths_below_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = [Path("results/a/b.csv"), Path("data/c.csv"), tmp_path.parent / "elsewhere.csv"]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")
    described = describe("mine", files, code="1")
    assert (described["experiment"], described["code"]) == ("mine", "1")
    names = ["a/b.csv", "data/c.csv", f"{tmp_path.parent.name}/elsewhere.csv"]
    assert json.loads(described["sources"]) == dict.fromkeys(names, sha256(b"").hexdigest())


def test_files_of_calls_are_checked_before_import(tmp_path: Path, cases: Path) -> None:
    content = cases.read_bytes()
    for damaged in (b"", content, content[:-9], make_foreign_table(b"")):
        cases.write_bytes(damaged)
        with pytest.raises(UserError, match=f"^{re.escape(str(cases))}: "):
            import_files(str(tmp_path / "ledger"), [cases])
    script = Path(__file__).resolve().parents[2] / "scripts" / "import_calls.py"
    process = subprocess.run(
        [sys.executable, script, "--ledger", tmp_path / "ledger", cases],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert process.returncode == 1
    assert process.stderr.startswith(f"moot: {cases}: ") and process.stderr.count("\n") == 1
