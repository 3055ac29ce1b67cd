"""A copy of the project in a folder of its own, run by Snakemake as a user runs it."""

import atexit
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import forks

PROJECT = Path(__file__).resolve().parents[2]
SHIPPED = (
    "Snakefile",
    "rules",
    "scripts",
    "config",
    "docs",
    "envs",
    "data/records",
    "data/samples",
    "data/published",
    "data/versions.csv",
    "profiles",
)
WARNING = re.compile(r"/(?:moot|pandas|scripts)/.*Warning: ")
"""Begins a warning that a module of moot or of pandas gives."""


def documented_pages() -> list[str]:
    """Return the pages of the project, relative to its folder."""
    folders = ("docs", "scripts/moot/studies/*", "scripts/moot/analyses/*")
    pages = set[Path]()
    for folder in folders:
        pages.update(PROJECT.glob(f"{folder}/*.md"))
    return ["README.md", *sorted(str(path.relative_to(PROJECT)) for path in pages)]


def copy_project(target: Path, analyses: Collection[str] | None = None) -> None:
    """Copy the project; without the folders of all analyses but some, which a user may remove."""
    for name in SHIPPED:
        source, copy = PROJECT / name, target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, copy) if source.is_dir() else shutil.copy2(source, copy)
    if analyses is None:
        return
    folder = target / "scripts/moot/analyses"
    assert all((folder / name).is_dir() for name in analyses), analyses
    for package in folder.glob("*/__init__.py"):
        if package.parent.name not in analyses:
            shutil.rmtree(package.parent)


@cache
def unedited_copy() -> Path:
    """Make a copy without analyses that tests share and none changes.

    It lasts as long as this process.
    """
    folder = tempfile.TemporaryDirectory(prefix="moot-project-")
    atexit.register(folder.cleanup)
    copy_project(Path(folder.name), ())
    return Path(folder.name)


def rules_to_run(dry_run: subprocess.CompletedProcess[str]) -> set[str]:
    """Return the rules that a dry run names."""
    assert dry_run.returncode == 0, dry_run.stdout
    lines = dry_run.stdout.splitlines()
    heads = [line for line in lines if line.startswith(("rule ", "localrule "))]
    return {head.split()[-1].rstrip(":") for head in heads}


class Workflow:
    """A copy of the project, and a working directory of its own.

    Args:
        folder: where both are made.
        url: of the model server.
        analyses: the names of the analyses that the copy has; None for all. Each adds tables and
            figures, which a test that does not need them should not build.
        project: `unedited_copy()`, if the test does not change it.
    """

    def __init__(
        self,
        folder: Path,
        url: str,
        analyses: Collection[str] | None = None,
        project: Path | None = None,
    ) -> None:
        self.project, self.work = project or folder / "project", folder / "work"
        if project is None:
            copy_project(self.project, analyses)
        self.work.mkdir()
        self.url = url
        self.configure({})

    def configure(self, change: dict[str, Any]) -> None:
        trial = {"protocol": "courtroom", "dataset": "people", "models": "served", "cases": 3}
        config: dict[str, Any] = {
            "run": ["trial", "single"],
            "min_debates": 1,
            "models": {
                "served": {
                    "endpoint": "openai",
                    "model": "test",
                    "base_url": self.url or None,
                    "max_tokens": 50,
                }
            },
            "datasets": {"people": {"loader": "nlsy97", "source": "synthetic", "rows": 60}},
            "experiments": {"trial": trial, "single": {**trial, "protocol": "zero_shot"}},
        }
        for path, value in change.items():
            node = config
            *parents, last = path.split("/")
            for part in parents:
                node = node.setdefault(part, {})
            node[last] = value
        (self.work / "my.yaml").write_text(yaml.safe_dump(config))

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        options = ["--configfile", "my.yaml", "--workflow-profile", "none", "--cores", "2"]
        return self.snakemake(*arguments, *options, **environment)

    def snakemake(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        process = forks.run(
            "-m",
            "snakemake",
            "--snakefile",
            self.project / "Snakefile",
            *arguments,
            cwd=self.work,
            project=None if "PYTHONPATH" in environment else self.project,
            **environment,
        )
        warnings = [line for line in process.stdout.splitlines() if WARNING.search(line)]
        assert not warnings, f"a job gave a warning: {warnings[0]}"
        assert "never retrieved" not in process.stdout, process.stdout
        return process

    def jobs(self, *targets: str) -> set[str]:
        """Return the rules that a run would execute now."""
        return rules_to_run(self.run(*targets, "--dry-run", "--quiet", "host"))
