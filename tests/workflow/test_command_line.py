"""Mistakes on the command line and in configuration files get one message before any job runs.

Slow: only this test detects messages of Snakemake that hide ours.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from messages import refusal
from moot.core.command_line import check_config_file, check_config_files
from moot.core.errors import unknown_name
from moot.core.log import job_log
from project_copy import PROJECT, Workflow, unedited_copy

pytestmark = pytest.mark.slow


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


def test_a_target_after_the_configuration_gets_one_message(tmp_path: Path) -> None:
    workflow = Workflow(tmp_path, "http://127.0.0.1:9", project=unedited_copy())
    process = workflow.snakemake("--cores", "1", "--configfile", "my.yaml", "courtroom")
    assert process.returncode == 1
    assert process.stdout.count("there is no file 'courtroom'. If it is a target") == 1
    assert "Traceback" not in process.stdout
    process = workflow.snakemake(
        "results/cases/people.parquet", "--cores", "1", "--configfile", "my.yaml", "--dry-run"
    )
    assert process.returncode == 0, process.stdout


def test_known_names_are_listed_once() -> None:
    assert str(unknown_name("model", "x", ["b", "a", "b"])).endswith("Known: a, b.")


def test_an_interrupt_ends_a_job_with_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_info, job_log(tmp_path / "job.log"):
        raise KeyboardInterrupt
    assert exit_info.value.code == 1
    assert "moot: stopped." in capsys.readouterr().err


def test_make_clean_keeps_what_is_tracked(tmp_path: Path) -> None:
    shutil.copy(PROJECT / "Makefile", tmp_path)
    for name in (
        "results/README.md",
        "results/tables/a/README.md",
        "results/x.csv",
        ".snakemake/log/x",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    subprocess.run(["make", "--silent", "clean"], cwd=tmp_path, check=True)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "Makefile",
        "results",
        "results/README.md",
    ]
