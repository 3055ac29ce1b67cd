"""A mistake on the command line gets one message of moot; `make clean` removes results only.

Slow: only this test detects messages of Snakemake that hide ours.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from project_copy import PROJECT, Workflow, unedited_copy

pytestmark = pytest.mark.slow


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
