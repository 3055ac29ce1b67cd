"""Text files are written whole, replaced only if they may be, and kept if they stay the same."""

import os
from pathlib import Path

import pytest

from messages import refusal
from moot.core.config import PeopleConfig
from moot.core.durable import lock_folder, write_atomically, write_if_changed
from moot.core.people_instructions import copy_instructions, read_instructions


def test_a_file_is_replaced_only_if_it_may_be(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    assert write_atomically(path, "a\n", replace=False, mode=0o600)
    assert path.stat().st_mode & 0o777 == 0o600
    assert not write_atomically(path, "b", replace=False) and path.read_text() == "a\n"
    assert write_atomically(path, "c\n") and path.read_bytes() == b"c\n"
    assert [*path.parent.iterdir()] == [path]


def test_an_equal_file_keeps_its_time(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_if_changed(path, "a")
    os.utime(path, (0, 0))
    write_if_changed(path, "a")
    assert path.stat().st_mtime == 0
    write_if_changed(path, "b")
    assert path.stat().st_mtime > 0 and path.read_text() == "b"


def test_a_locked_folder_is_there(tmp_path: Path) -> None:
    with lock_folder(tmp_path / "new"):
        assert (tmp_path / "new" / ".desk.lock").exists()


def test_instructions_are_copied_until_they_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    copy_instructions(PeopleConfig())
    assert read_instructions(tmp_path) == "" and not [*tmp_path.iterdir()]
    Path("mine.md").write_text("Read all of it.")
    copy_instructions(PeopleConfig(instructions="mine.md"))
    assert read_instructions(tmp_path) == "Read all of it."
    copy_instructions(PeopleConfig())
    assert read_instructions(tmp_path) == ""
    with refusal():
        copy_instructions(PeopleConfig(instructions="nowhere.md"))
