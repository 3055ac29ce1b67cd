"""Mistakes on the command line that Snakemake does not explain."""

import os
from pathlib import Path

import pytest

from messages import refusal
from moot.core.command_line import check_cores, check_targets, use_writable_cache


def test_no_cores_are_refused() -> None:
    check_cores(None)
    check_cores(2)
    with refusal():
        check_cores(0)


def test_an_unknown_target_names_the_nearest() -> None:
    check_targets(["doctor", "results/a.html"], ["doctor", "tables_x"])
    with refusal():
        check_targets(["docter"], ["doctor", "preview", "tables_x"])


def test_without_a_writable_home_the_cache_is_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    use_writable_cache()
    assert os.environ["XDG_CACHE_HOME"] == str(tmp_path / ".snakemake" / "cache")
    assert "XDG_CACHE_HOME" in capsys.readouterr().err
