"""Measure the size of the project, beside that of an earlier commit.

    python benchmarks/house.py [COMMIT] [--times]

COMMIT is the one that the change started from; the default is `origin/main`, or else the commit
before. `--times` adds the processor seconds of a dry run. `readability.py` has the limits on
readability, which the linters check.
"""

import argparse
import ast
import io
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PRIVATE = re.compile(
    r"(?<!moot\.)\bworkflow\.(?!cores\b|basedir|current_basedir|source_path|snakefile|"
    r"configfiles)\w"
    r"|\bfrom snakemake(?: import|\.(?!script|utils|exceptions)\w+)|\bsnakemake\.logging"
)
"""What no page of Snakemake's describes: its objects behind `workflow`, and its modules but those
for users.
"""
KEY_ROW = re.compile(r"^\| `", re.MULTILINE)
"""A row of a table of keys or names in the reference."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def count_words(pages: Iterable[Path]) -> int:
    """Return the number of words of some pages, parts with a letter between white space."""
    count = 0
    for page in pages:
        count += sum(any(map(str.isalpha, part)) for part in page.read_text("utf-8").split())
    return count


def count_lines(files: Iterable[Path]) -> int:
    """Return the number of lines of some files."""
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def private_lines(project: Path) -> list[str]:
    """Return the lines of code that use private interfaces of Snakemake."""
    files = [project / "Snakefile", *sorted((project / "rules").rglob("*.smk"))]
    files += sorted((project / "scripts").rglob("*.py"))
    places = []
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            code = line.partition("#")[0]
            if PRIVATE.search(code) and "`" not in code:  # a docstring names it in back quotes
                places.append(f"{file.relative_to(project)}:{number}: {line.strip()}")
    return places


def measure_size(project: Path) -> dict[str, int]:
    """Return the rows of the table for the files of a project."""
    scripts = sorted((project / "scripts").rglob("*.py"))
    nodes, functions = 0, 0
    for file in scripts:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            nodes += 1
            functions += isinstance(node, FUNCTIONS)
    tests = sorted((project / "tests").rglob("*.py"))
    pages = [*project.glob("*.md"), *(project / "docs").rglob("*.md")]
    for folder in ("config", "data", "results", "scripts", "benchmarks"):
        pages += (project / folder).rglob("*.md")
    reference = (project / "docs" / "reference.md").read_text(encoding="utf-8")
    return {
        "syntax nodes of scripts": nodes,
        "lines of scripts": count_lines(scripts),
        "functions": functions,
        "files": len(scripts),
        "rows of keys and names in the reference": len(KEY_ROW.findall(reference)),
        "words on pages": count_words(pages),
        "lines of tests": count_lines(tests),
        "lines that touch private parts of Snakemake": len(private_lines(project)),
    }


def measure_commit(commit: str) -> dict[str, int]:
    """Return the rows of the table for the files of a commit."""
    archive = subprocess.run(
        ["git", "archive", commit], cwd=PROJECT, check=True, capture_output=True
    )
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as file:
            file.extractall(folder, filter="data")
        return measure_size(Path(folder))


def default_commit() -> str:
    """Return the commit that a change is compared with."""
    names = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", "origin/main"], cwd=PROJECT, check=False
    )
    return "origin/main" if names.returncode == 0 else "HEAD~1"


def dry_run_seconds() -> float:
    """Return the processor seconds of a dry run of the default configuration in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "snakemake", "--snakefile", PROJECT / "Snakefile"]
        command += ["--directory", folder, "--dry-run", "--cores", "2", "--quiet", "all"]
        environment = {**os.environ, "PYTHONPATH": str(PROJECT / "scripts")}
        subprocess.run(command, env=environment, check=True, capture_output=True)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print a row of the table for each measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", nargs="?", help="default: origin/main, or the commit before")
    parser.add_argument("--times", action="store_true", help="also time a dry run")
    arguments = parser.parse_args()
    commit = arguments.commit or default_commit()
    before = measure_commit(commit)
    print(f"| | {commit[:12]} | now |\n|---|--:|--:|")
    for name, value in measure_size(PROJECT).items():
        print(f"| {name} | {before[name]:,} | {value:,} |")
    for place in private_lines(PROJECT):
        print(f"- {place}")
    if arguments.times:
        print(f"- dry run of the default configuration: {dry_run_seconds():.1f} processor seconds")


if __name__ == "__main__":
    main()
