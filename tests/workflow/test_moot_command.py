"""The command `moot` and the package that brings it: the whole project, started from any folder."""

import importlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import forks
from moot.commands.start import USAGE, command_of
from project_copy import PROJECT, unedited_copy

SNAKEFILE = ["--snakefile", str(PROJECT / "Snakefile")]
SNAKEMAKE = [sys.executable, "-m", "snakemake"]


@pytest.mark.parametrize(
    ("arguments_text", "expected"),
    [
        ("run", [*SNAKEFILE, "--cores", "all"]),
        (
            "run courtroom --configfile my.yaml",
            ["courtroom", "--configfile", "my.yaml", *SNAKEFILE, "--cores", "all"],
        ),
        (
            "preview -n --config seed=2",
            ["preview", "-n", "--config", "seed=2", *SNAKEFILE, "--cores", "all"],
        ),
        ("results/cases/vast.parquet -c2", ["results/cases/vast.parquet", "-c2", *SNAKEFILE]),
        ("run --profile profiles/slurm", ["--profile", "profiles/slurm", *SNAKEFILE]),
    ],
)
def test_the_command_is_snakemake_with_the_shipped_workflow(
    arguments_text: str, expected: list[str]
) -> None:
    assert command_of(arguments_text.split()) == [*SNAKEMAKE, *expected]


def test_the_desk_gets_the_command_that_continues_the_debates() -> None:
    command = command_of(["desk", "--configfile", "my.yaml"])
    assert command[1:6] == [str(PROJECT / "scripts/desk.py"), *SNAKEMAKE, "debates"]


def moot(*arguments: str, folder: Path) -> str:
    start = (
        f"import sys; sys.path.insert(0, {str(PROJECT / 'scripts')!r}); from moot.commands.start"
        " import main; main()"
    )
    process = subprocess.run(
        [sys.executable, "-c", start, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return process.stdout + process.stderr


def test_without_arguments_it_prints_its_usage(tmp_path: Path) -> None:
    assert moot(folder=tmp_path) == USAGE.format(shipped=PROJECT)


@pytest.mark.slow
def test_it_runs_from_an_empty_folder_with_the_profile_of_the_project(tmp_path: Path) -> None:
    cases = "results/cases/agenticsimlaw-nlsy97.parquet"
    output = moot(cases, folder=tmp_path)
    assert (tmp_path / cases).is_file(), output
    assert "rule load_cases:" not in output  # the profile's lines a stage, and not Snakemake's own
    project = unedited_copy()
    command = ["-m", "snakemake", "--snakefile", str(project / "Snakefile"), cases]
    for option in ("--rulegraph", "--unlock"):  # they run no job, and need no number of cores
        process = forks.run(*command, option, cwd=tmp_path, project=project)
        assert process.returncode == 0, process.stdout


def test_the_package_contains_every_file_that_a_run_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("hatchling")
    monkeypatch.chdir(PROJECT)
    wheel = importlib.import_module("hatchling.build").build_wheel(str(tmp_path))
    names = set(zipfile.ZipFile(tmp_path / wheel).namelist())
    tracked = subprocess.run(
        ["git", "ls-files"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()
    shipped = (
        "Snakefile",
        "config/",
        "data/",
        "docs/captions/",
        "docs/examples/",
        "envs/",
        "profiles/",
        "rules/",
        "scripts/",
    )
    packaged_files = {
        f"moot_workflow/{name}"
        for name in tracked
        if name.startswith(shipped) and not name.endswith(".gitignore")
    }
    assert len(packaged_files) > 500 and packaged_files <= names
    assert not [name for name in names if "__pycache__" in name]
    assert zipfile.ZipFile(tmp_path / wheel).read("moot.pth") == b"moot_workflow/scripts\n"
