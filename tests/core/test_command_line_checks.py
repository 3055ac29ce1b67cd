"""Mistakes on the command line and in its files that Snakemake does not explain."""

import os
import resource
import sys
from pathlib import Path

import pytest

from messages import refusal
from moot.core.command_line import (
    check_config_file,
    check_config_files,
    check_cores,
    check_memory_limit,
    check_targets,
    prepend_python_path,
    targets_of_command_line,
    use_writable_cache,
)
from moot.core.errors import unknown_name
from moot.core.shipped_files import SHIPPED

SCRIPTS = str(SHIPPED / "scripts")


def test_no_cores_are_refused() -> None:
    check_cores(None)
    check_cores(2)
    with refusal():
        check_cores(0)


def test_an_unknown_target_names_the_nearest() -> None:
    check_targets(["doctor", "results/a.html"], ["doctor", "tables_x"])
    with refusal():
        check_targets(["docter"], ["doctor", "preview", "tables_x"])


def test_the_start_of_snakemake_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in (resource.RLIM_INFINITY, 594 * 2**20):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, limit))
        check_memory_limit(2)
    with refusal():
        check_memory_limit(3)
    for earlier, expected in ((None, SCRIPTS), ("/mine", f"{SCRIPTS}:/mine")):
        monkeypatch.setattr(os, "environ", {"PYTHONPATH": earlier} if earlier else {})
        prepend_python_path()
        assert os.environ["PYTHONPATH"] == expected
    monkeypatch.setattr(sys, "argv", ["snakemake", "doctor", "a.csv", "--cores", "2"])
    assert targets_of_command_line() == ["doctor", "a.csv"]


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


@pytest.mark.parametrize(
    "content",
    [
        b"run: [x\nfoo: bar\n",
        b"run:\n\t- x\n",
        b"run: [x]\nmodels:\n  a: {model: b: c}\n",
        b"run: caf\xe9\n",
        b"run: x\npublication: {license: 2026-99-99}\n",
        b"seed: !!int one\n",
        b"",
        b"- run\n",
        b"models: &all\n  small: *all\n",
    ],
)
def test_a_broken_file_is_named_with_its_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_bytes(content)
    with refusal():
        check_config_file(path)


def test_every_faulty_file_is_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("a: [")
    (tmp_path / "good.json").write_text('{"a":\t1}')
    files = [str(tmp_path / name) for name in ("one.yaml", "good.json", "courtroom")]
    with pytest.raises(SystemExit) as exit_info:
        check_config_files(["--cores", "2", "--configfile", *files, "--quiet"])
    assert [line.split(": ")[1] for line in str(exit_info.value).splitlines()] == [
        files[0],
        "--configfile",
    ]
    check_config_files(["courtroom", "--configfile", files[1]])
    check_config_files(["courtroom", "--configfile", files[1], "--config", "replay=True"])


def test_known_names_are_listed_once() -> None:
    assert str(unknown_name("model", "x", ["b", "a", "b"])).endswith("Known: a, b.")
