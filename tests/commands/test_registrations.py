"""Test the list of registered entries, and that unreachable modules are reported."""

import inspect
import shutil
from pathlib import Path

import pytest

from messages import refusal
from moot.commands.registrations import (
    OVERRIDDEN_BY_NONE,
    SCRIPTS,
    check_modules,
    describe_registrations,
)
from moot.hooks import ANALYSES, Analysis


def test_each_entry_is_listed_with_its_file_and_line() -> None:
    rows = describe_registrations().splitlines()
    assert not [row for row in rows if "core/sections.py" in row]
    assert not [row for row in rows if row.endswith("|  | 0 |")]
    (row,) = [row for row in rows if row.startswith("| `courtroom` |")]
    _, _, kind, file, line, _ = (cell.strip() for cell in row.split("|"))
    assert (kind, file) == ("protocol", "`scripts/moot/studies/courtroom/protocol.py`")
    text = (SCRIPTS.parent / file.strip("`")).read_text(encoding="utf-8").splitlines()
    assert "protocol(" in text[int(line) - 1]


def test_each_hook_is_listed_with_the_analyses_that_override_it() -> None:
    hooks = {name for name, value in vars(Analysis).items() if inspect.isfunction(value)}
    listed_rows = describe_registrations().splitlines()
    for name in ANALYSES:
        for hook in hooks & vars(type(ANALYSES[name])).keys():
            begins = f"| `{name}` | hook `{hook}` | `scripts/moot/analyses/"
            (row,) = [row for row in listed_rows if begins in row]
            file, line = (cell.strip(" `") for cell in row.split("|")[3:5])
            text = (SCRIPTS.parent / file).read_text(encoding="utf-8").splitlines()
            assert f"def {hook}(" in text[int(line) - 1]


def test_a_hook_without_an_analysis_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    def unused_hook(_: Analysis) -> None:
        """Do nothing."""

    monkeypatch.setattr(Analysis, "unused_hook", unused_hook, raising=False)
    rows = [row for row in describe_registrations().splitlines() if "hook `unused_hook`" in row]
    (row,) = rows
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    line = unused_hook.__code__.co_firstlineno
    assert cells == [OVERRIDDEN_BY_NONE, "hook `unused_hook`", f"`{__file__}`", str(line)]


def test_the_module_that_is_not_reached_is_named(
    tmp_path: Path,
) -> None:
    scripts = tmp_path / "scripts"
    shutil.copytree(SCRIPTS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    (scripts / "moot" / "studies" / "courtroom" / "tabels_new.py").write_text("")
    with refusal():
        check_modules(scripts)
