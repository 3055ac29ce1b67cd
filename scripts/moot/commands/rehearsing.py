"""Running a rehearsal: a separate workflow in `rehearsal/`, and its report on the real run."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from moot.core.amount_text import amount_text
from moot.core.artifacts import atomic_path
from moot.core.durable import write_atomically
from moot.core.errors import RunStoppedError
from moot.core.log import LOG
from moot.core.types import Fields

FOLDER = Path("rehearsal")
CONFIGURATION = "configuration.json"
PAGE = "rehearsal.md"
_EXCLUDED_PATHS = {"results", "data", "report.html", FOLDER.name}
_EXCLUDED_DATA = {
    "ledger",
    "annotations",
    "annotation_sheets",
    "inbox",
    "frozen",
    "people",
    "study.json",
}
_MEGABYTE = 1e6
_KIBIBYTES_PER_GIGABYTE = 1e9 / 1024


@dataclass(frozen=True)
class RunMeasurement:
    """The measured cost of a rehearsal: wall seconds, GB of its largest process."""

    seconds: float
    gigabytes: float


def prepare(folder: Path, raw: Fields) -> None:
    """Prepare the folder of a rehearsal: the configuration, and links to the input files.

    Annotations and answers of people are left out, since they are about real debates, and so are
    results and ledger.
    """
    (folder / "data").mkdir(parents=True, exist_ok=True)
    _link(
        folder,
        (
            path
            for path in Path().iterdir()
            if path.name not in _EXCLUDED_PATHS and not path.name.startswith(".")
        ),
    )
    data = Path("data")
    _link(folder / "data", (path for path in data.glob("*") if path.name not in _EXCLUDED_DATA))
    datasets = {name: _with_outer_path(entry, "path") for name, entry in raw["datasets"].items()}
    content = {**raw, "datasets": datasets, "rehearsal": True, "replace_results": True}
    content = _with_outer_path(content, "data_root")
    with atomic_path(folder / CONFIGURATION) as part:
        part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _with_outer_path(entry: Fields, key: str) -> Fields:
    """Return an entry whose path, if it leads out of the working directory, is absolute.

    What lies within is linked; a path of other data sets is one below `data_root`.
    """
    path = Path(entry.get(key, ""))
    return {**entry, key: str(path.resolve())} if ".." in path.parts else entry


def _link(folder: Path, paths: Iterable[Path]) -> None:
    for path in paths:
        link = folder / path.name
        if not link.is_symlink():
            link.symlink_to(os.path.relpath(path, folder))


def run_workflow(
    folder: Path, shipped: Path, cores: int, files: Iterable[str] = ()
) -> RunMeasurement:
    """Run the workflow of a folder's configuration, for some files or for all.

    Raises:
        RunStoppedError: it failed; its messages give the reason.
    """
    command = [sys.executable, "-m", "snakemake", *files, "--snakefile", str(shipped / "Snakefile")]
    command += ["--cores", str(cores), "--configfile", CONFIGURATION]
    start_time = time.monotonic()
    process = subprocess.run(command, cwd=folder, check=False, stdout=sys.stderr)  # noqa: S603
    if process.returncode:
        raise RunStoppedError(
            f"{folder}: it stopped. For the reason, see the messages above and "
            f"{folder}/results/logs/."
        )
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    kibibytes = usage.ru_maxrss / 1024 if sys.platform == "darwin" else usage.ru_maxrss
    return RunMeasurement(
        time.monotonic() - start_time,
        kibibytes / _KIBIBYTES_PER_GIGABYTE,
    )


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def report(folder: Path, measured: RunMeasurement) -> str:
    """Return the results of a rehearsal as Markdown."""
    megabytes = sum(map(_size, (folder / "data" / "ledger", folder / "results"))) / _MEGABYTE
    parts = [
        "# Rehearsal (SIMULATED)",
        (
            "A stand-in that draws its answers replaced all models: no number of this run"
            " describes a model. "
            f"Tables, figures and transcripts are in `{folder}/results/`."
        ),
        "`snakemake preview` counts the calls of the real run, with their cost and hours.",
        (
            f"The rehearsal took {amount_text(measured.seconds / 60, 1)} minutes. Its largest"
            f" process had {measured.gigabytes:.2f} GB of memory; ledger and results have"
            f" {amount_text(megabytes, 1)} MB on disk. A second rehearsal of the same"
            " configuration reads its ledger."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def rehearse(raw: Fields, shipped: Path, cores: int) -> str:
    """Rehearse a configuration in `rehearsal/` below the working directory, and return the report.

    Args:
        raw: the merged configuration, as Snakemake passes it.
        shipped: the project's folder.
        cores: for the workflow.
    """
    prepare(FOLDER, raw)
    LOG.info("rehearsing in %s/; a log of each job is in %s/results/logs/", FOLDER, FOLDER)
    measured = run_workflow(FOLDER, shipped, cores)
    text = report(FOLDER, measured)
    write_atomically(FOLDER / PAGE, text)
    return text
