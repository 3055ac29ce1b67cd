"""Measure the code: readability, where a paper and an analysis are named, and the cost of a start.

`readability.py`, which the linters run, has the limits on readability.
"""

import ast
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from readability import FOLDERS, LIMITS, measure

from moot.core.read_config import default_config
from moot.plan.plan import Plan
from moot.plan.plan_cache import keep_for_jobs

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE = PROJECT / "scripts" / "moot"
STUDIES, ANALYSES = PACKAGE / "studies", PACKAGE / "analyses"
LLM = PACKAGE / "llm"


@dataclass(frozen=True)
class Part:
    """A part of the client.

    Attributes:
        paths: Its folder, and its modules elsewhere.
        pattern: The words that name it.
        other_meanings: Modules in which the same words mean something else.
    """

    paths: tuple[Path, ...]
    pattern: str
    other_meanings: tuple[Path, ...] = ()


PARTS = {
    "batches": Part(
        (LLM / "batches", PACKAGE / "core" / "batch_config.py"),
        r"\bbatch(?:es)?\b|\bBATCH",
        other_meanings=(
            LLM / "ledger" / "batching.py",  # of database statements
            PACKAGE / "jobs" / "label_sheets.py",  # of statements for people
            PACKAGE / "labels" / "sample.py",
            PACKAGE / "stats" / "randomisation.py",  # of permutations
            PACKAGE / "training",  # of texts
            PACKAGE / "datasets",  # keys of other tools' logs
        ),
    ),
    "the stand-in": Part(
        (
            LLM / "stand_in.py",
            LLM / "endpoints" / "simulated.py",
        ),
        r"\bsimulated\b|\bSIMULATED\b",
        other_meanings=(PACKAGE / "studies" / "appellate" / "papers.py",),
    ),
}
"""Parts of the client, by name."""
WORDS_OF_ANALYSES = {"arms": r"\b[Aa]rms?\b|\bARMS?\b|\barm_"}
"""Further words that name an analysis, by its folder."""
OTHER_MEANINGS_OF_WORDS = {"arms": (PACKAGE / "studies" / "recorded",)}
"""Modules in which these words mean something else, by the folder of the analysis."""
FINISH_REASON = "stop"
"""A key of an analysis that is a value of servers' replies, too."""
PRIVATE = re.compile(
    r"(?<!moot\.)\bworkflow\.(?!cores\b|basedir|current_basedir|source_path|snakefile|"
    r"configfiles)\w"
    r"|\bfrom snakemake(?: import|\.(?!script|utils|exceptions)\w+)|\bsnakemake\.logging"
)
"""What no page of Snakemake's describes: its objects behind `workflow`, and its modules but those
for users.
"""
WRITTEN_BY_MAKE_DOCS = {"docs/reference.md", "docs/artifacts.md"}
NOT_WRITTEN_BY_HAND = re.compile(
    r"^```.*?^```|<!-- (?:\w+: |written by ).*?-->.*?<!-- end\b.*?-->|<!--.*?-->",
    re.DOTALL | re.MULTILINE,
)
"""Configurations and commands, tables that a program writes, comments."""
SECTION_KEY = re.compile(r"ConfigSection\(\s*\"\w+\",\s*\"(\w+)\"")
START_OF_A_JOB = """
import json, runpy, sys
from pathlib import Path
from moot.plan.plan_cache import plan_of
runpy.run_path(sys.argv[1])
plan_of(json.loads(Path("config.json").read_text())).view("courtroom-nlsy97")
"""
"""What a job of debates imports, and the plan that its run kept."""


def source_files(*folders: Path, suffix: str = ".py") -> list[Path]:
    """Return the files below folders."""
    files = set[Path]()
    for folder in folders:
        files |= set(folder.rglob(f"*{suffix}"))
    return sorted(files)


def read_lines(files: Iterable[Path]) -> list[str]:
    """Return the lines of all files."""
    lines = []
    for file in files:
        lines += file.read_text(encoding="utf-8").splitlines()
    return lines


def matching(pattern: str, files: Iterable[Path]) -> int:
    """Return the lines that match a pattern."""
    return sum(bool(re.search(pattern, line)) for line in read_lines(files))


def words(page: str) -> int:
    """Return the number of words of a page without generated parts: parts between white space with
    a letter.
    """
    return sum(any(map(str.isalpha, word)) for word in NOT_WRITTEN_BY_HAND.sub("", page).split())


def words_by_page() -> dict[str, int]:
    """Return the number of words of each page of the project that is written by hand."""
    tracked_pages = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=PROJECT, check=True, capture_output=True, text=True
    )
    pages = sorted({*tracked_pages.stdout.split()} - WRITTEN_BY_MAKE_DOCS)
    return {page: words((PROJECT / page).read_text(encoding="utf-8")) for page in pages}


def places(study: str) -> list[str]:
    """Return a study's folder, and the rooms that import from it."""
    folders = [f"studies/{study}"]
    for file in source_files(PACKAGE):
        room = file.relative_to(PACKAGE).parts[0]
        imports = re.search(
            rf"^\s*(from|import) moot\.studies\.{study}\b",
            file.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        if room != "studies" and imports and room not in folders:
            folders.append(room)
    return folders


def code_files() -> list[Path]:
    """Return every file of code that is not a test: scripts, rules and the Snakefile."""
    rules = [PROJECT / "Snakefile", *source_files(PROJECT / "rules", suffix=".smk")]
    return [*source_files(PROJECT / "scripts"), *rules]


def lines_elsewhere() -> dict[str, int]:
    """Return how many lines of code outside its folder name each analysis, and each of `PARTS`.

    An analysis is named by its import path, by the configuration keys that it registers, and by
    its `WORDS_OF_ANALYSES`.
    """
    counts: dict[str, int] = {}
    for folder in analysis_folders():
        excluded = (folder, *OTHER_MEANINGS_OF_WORDS.get(folder.name, ()))
        counts[f"analyses/{folder.name}"] = matching(
            pattern_of_analysis(folder), code_outside(excluded)
        )
    for name, part in PARTS.items():
        outside = code_outside((*part.paths, *part.other_meanings))
        counts[name] = matching(part.pattern, outside)
    return counts


def analysis_folders() -> list[Path]:
    """Return the folders of the analyses."""
    return sorted(path.parent for path in ANALYSES.glob("*/__init__.py"))


def pattern_of_analysis(folder: Path) -> str:
    """Return the pattern of the lines that name the analysis of a folder."""
    keys = set[str]()
    for file in folder.glob("config*.py"):
        keys |= set(SECTION_KEY.findall(file.read_text(encoding="utf-8")))
    patterns = [rf"analyses[./]{folder.name}\b"]
    patterns += [rf"[\"'.]{key}[\"']" for key in sorted(keys - {FINISH_REASON})]
    if folder.name in WORDS_OF_ANALYSES:
        patterns.append(WORDS_OF_ANALYSES[folder.name])
    return "|".join(patterns)


def code_outside(excluded: Sequence[Path]) -> list[Path]:
    """Return the files of code that are neither excluded nor in an excluded folder."""
    folders = set(excluded)
    return [file for file in code_files() if not folders & {file, *file.parents}]


def rules_with_inputs() -> str:
    """Return how many rules state their inputs in place, of all rules that have inputs."""
    rules, stated_count = 0, 0
    for file in [PROJECT / "Snakefile", *source_files(PROJECT / "rules", suffix=".smk")]:
        for text in re.split(r"^ *rule\b", file.read_text(encoding="utf-8"), flags=re.M)[1:]:
            if re.search(r"^ +input:", text, re.M):
                rules += 1
                stated_count += "inputs_of(" not in text
    return f"{stated_count} of {rules}"


def private_lines() -> list[str]:
    """Return the lines of code that use private interfaces of Snakemake."""
    places = []
    rules = [PROJECT / "Snakefile", *source_files(PROJECT / "rules", suffix=".smk")]
    for file in [*source_files(PROJECT / "scripts"), *rules]:
        text = file.read_text(encoding="utf-8")
        docstring_numbers = docstring_lines(text) if file.suffix == ".py" else set()
        for number, line in enumerate(text.splitlines(), 1):
            if number not in docstring_numbers and PRIVATE.search(line.split("#")[0]):
                places.append(f"{file.relative_to(PROJECT)}:{number}: {line.strip()}")
    return places


def docstring_lines(text: str) -> set[int]:
    """Return the numbers of the lines of docstrings."""
    numbers = set[int]()
    expressions = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
    for node in expressions:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            numbers |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return numbers


def processor_seconds(*command: str | Path, folder: Path = PROJECT) -> list[float]:
    """Return the processor seconds of a command and its children, for the first and for the second
    run in a folder.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": str(PROJECT / "scripts"),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    seconds = []
    for _ in range(2):
        usage_before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *command], env=environment, check=True, capture_output=True, cwd=folder
        )
        usage_after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(
            usage_after.ru_utime
            + usage_after.ru_stime
            - usage_before.ru_utime
            - usage_before.ru_stime
        )
    return seconds


def start_of_a_job() -> float:
    """Return the processor seconds that a job of debates takes before it reads its cases."""
    config = default_config(PROJECT)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path(".snakemake").mkdir()
        Path("config.json").write_text(json.dumps(config), encoding="utf-8")
        keep_for_jobs(Plan.from_yaml(config, PROJECT), config)
        return processor_seconds(
            "-c", START_OF_A_JOB, PROJECT / "scripts" / "debates.py", folder=Path(folder)
        )[-1]


def dry_run() -> list[float]:
    """Return the processor seconds of a dry run of the default configuration in an empty folder,
    and of a second one there.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "-m",
            "snakemake",
            "--snakefile",
            PROJECT / "Snakefile",
            "--directory",
            folder,
            "--dry-run",
        ]
        return processor_seconds(*command, "--cores", "2", "--quiet", "all")


def measures() -> dict[str, str]:
    """Return the rows of the table."""
    package, studies_source = source_files(PACKAGE), source_files(STUDIES)
    studies = sorted(path.name for path in STUDIES.iterdir() if (path / "__init__.py").exists())
    rules = source_files(PROJECT / "rules", suffix=".smk")
    common = [file for file in rules if file.name == "common.smk"]
    private = private_lines()
    rows = {
        "lines of the package": f"{len(read_lines(package)):,}",
        "lines outside studies/": f"{len(read_lines(package)) - len(read_lines(studies_source)):,}",
        "words written by hand in pages": f"{sum(words_by_page().values()):,}",
    }
    for study in studies:
        folders = places(study)
        rows[f"places of {study}"] = f"{len(folders)} ({', '.join(folders)})"
    for name, count in lines_elsewhere().items():
        rows[f"lines elsewhere that name {name}"] = str(count)
    rows["rules whose inputs can be read in the rule"] = rules_with_inputs()
    return rows | {
        "lines of rules/": f"{len(read_lines(rules)):,}",
        "lines of common.smk": f"{len(read_lines(common)):,}",
        "lines that touch private parts of Snakemake": "\n  - ".join([str(len(private)), *private]),
        "noqa": str(matching("# noqa", package)),
        "type: ignore": str(matching(r"# type: ignore", package)),
        "lines with Any": str(matching(r"\bAny\b", package)),
    }


def main() -> None:
    """Print each measure; the times come last, since they take some seconds."""
    readability = measure(*FOLDERS)
    for name, value in readability.values().items():
        print(f"- {name}: {value:.1f} (at most {LIMITS[name]:g})")
    print(f"- functions with a docstring: {readability.documented_share():.0f} %")
    for name, value in measures().items():
        print(f"- {name}: {value}", flush=True)
    print(f"- start of a job of debates: {start_of_a_job():.1f} processor seconds", flush=True)
    first, second = dry_run()
    print(
        f"- dry run of the default configuration: {first:.1f} processor seconds; {second:.1f} where"
        " digests are kept"
    )


if __name__ == "__main__":
    main()
