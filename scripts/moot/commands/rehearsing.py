"""Running a rehearsal: a separate workflow in `rehearsal/`, and its report on the real run."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from moot.core.amount_text import amount_text, bound_text, dollars_text
from moot.core.artifacts import atomic_path, read_frame
from moot.core.batch_config import HOURS_PER_WAVE
from moot.core.config import Config
from moot.core.durable import write_atomically
from moot.core.errors import RunStoppedError
from moot.core.log import LOG
from moot.core.model_config import ModelConfig
from moot.core.types import Fields, Json
from moot.llm.batches.estimate import count_waves, describe_waves
from moot.report.markdown import markdown_table

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
_HOUR = 3600.0
_CALL_COLUMNS = ["call_id", "model", "seconds", "prompt_tokens", "completion_tokens", "cost_usd"]


@dataclass(frozen=True)
class RunMeasurement:
    """The measured cost of a rehearsal: wall seconds, processor seconds, GB of its largest
    process.
    """

    seconds: float
    processor_seconds: float
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
    with atomic_path(folder / CONFIGURATION) as part:
        content = {**raw, "rehearsal": True, "replace_results": True}
        part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


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
        usage.ru_utime + usage.ru_stime,
        kibibytes / _KIBIBYTES_PER_GIGABYTE,
    )


def read_calls(folder: Path) -> pd.DataFrame:
    """Yield every call of the rehearsal's debates once.

    Each has its tokens, its seconds on the real model, and its price.
    """
    paths = sorted((folder / "results" / "calls").rglob("*.parquet"))
    frames = [
        read_frame(path, _CALL_COLUMNS) for path in paths
    ]  # requests and replies stay on disk
    calls = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=_CALL_COLUMNS)
    return calls.drop_duplicates("call_id")


def estimate_real_run(
    calls: pd.DataFrame, models: Mapping[str, ModelConfig], waves: Mapping[str, int]
) -> pd.DataFrame:
    """Estimate the cost of the real run, one row per model.

    The columns are model, calls, tokens, usd, waves and hours.

    The hours are the maximum of three: the calls' seconds over the model's concurrency, its calls
    over its requests per minute, and its tokens over its tokens per minute. If calls are gathered,
    the hours are the maximum for the number of `waves`.
    """
    rows = []
    for model, calls_of_model in calls.groupby("model", sort=True):
        config = models[str(model)]
        tokens = int(
            calls_of_model["prompt_tokens"].sum() + calls_of_model["completion_tokens"].sum()
        )
        seconds = [float(calls_of_model["seconds"].sum()) / config.concurrency]
        seconds += (
            [60 * len(calls_of_model) / config.requests_per_minute]
            if config.requests_per_minute
            else []
        )
        seconds += [60 * tokens / config.tokens_per_minute] if config.tokens_per_minute else []
        usd, max_waves = float(calls_of_model["cost_usd"].sum()), waves.get(str(model), 0)
        hours = max_waves * HOURS_PER_WAVE if max_waves else max(seconds) / _HOUR
        row = {"model": model, "calls": len(calls_of_model), "tokens": tokens, "usd": usd}
        rows.append({**row, "waves": max_waves, "hours": hours})
    return pd.DataFrame(rows, columns=["model", "calls", "tokens", "usd", "waves", "hours"])


def _hours(hours: float, *, at_most: bool) -> str:
    return bound_text(hours, 2) if at_most else amount_text(hours, 2)


def measure_sizes(folder: Path) -> dict[str, int]:
    """Return the bytes on disk of the ledger and of each folder of the results."""
    size_by_folder = {"ledger": _size(folder / "data" / "ledger")}
    size_by_folder |= {
        f"results/{part.name}": _size(part)
        for part in sorted((folder / "results").glob("*"))
        if part.is_dir()
    }
    return size_by_folder


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def report(folder: Path, config: Config, measured: RunMeasurement) -> str:
    """Return the results of a rehearsal as Markdown."""
    waves = count_waves(folder / "results", config.models, config.shards)
    table = estimate_real_run(read_calls(folder), config.models, waves)
    rows, on_disk = table.to_dict("records"), measure_sizes(folder)
    sums = table[["calls", "tokens", "usd", "hours"]].sum().to_dict()
    longest = _hours(table["hours"].max() if len(table) else 0, at_most=bool(waves))
    model_rows = [
        (row["model"], *_counts(row), _hours(row["hours"], at_most=row["waves"] > 0))
        for row in rows
    ]
    folder_rows = [
        (name, amount_text(size / _MEGABYTE, 1))
        for name, size in (on_disk | {"all": sum(on_disk.values())}).items()
    ]
    parts = [
        "# Rehearsal (SIMULATED)",
        (
            "A stand-in that draws its answers replaced all models: no number of this run"
            " describes a model. "
            f"Tables, figures and transcripts are in `{folder}/results/`."
        ),
        "## The real run, estimated",
        markdown_table(
            ("model", "calls", "tokens", "US dollars", "hours"),
            [*model_rows, ("all", *_counts(sums), f"{longest} to {amount_text(sums['hours'], 2)}")],
        ),
        (
            "Hours of all: from the hours of the slowest model, if all servers are called at once, "
            "to the sum, if one model follows the other. They are computed from 40 tokens a "
            "second, 0.6 seconds to the first token and texts of 80 words, and from each model's "
            "limits and concurrency. Calls of models that label statements are not included."
        ),
        *(describe_waves(row["model"], row["waves"]) for row in rows if row["waves"]),
        "## On disk",
        markdown_table(("folder", "MB"), folder_rows),
        "## This machine",
        (
            f"The rehearsal took {amount_text(measured.seconds / 60, 1)} minutes,"
            f" {amount_text(measured.processor_seconds / 60, 1)} of processor time; its largest"
            f" process {measured.gigabytes:.2f} GB of memory. A second rehearsal of the"
            " same configuration reads its ledger."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _counts(row: Json) -> tuple[str, str, str]:
    return f"{row['calls']:,.0f}", f"{row['tokens']:,.0f}", dollars_text(row["usd"])


def rehearse(raw: Fields, config: Config, shipped: Path, cores: int) -> str:
    """Rehearse a configuration in `rehearsal/` below the working directory, and return the report.

    Args:
        raw: the merged configuration, as Snakemake passes it.
        config: the checked configuration.
        shipped: the project's folder.
        cores: for the workflow.
    """
    prepare(FOLDER, raw)
    LOG.info("rehearsing in %s/; a log of each job is in %s/results/logs/", FOLDER, FOLDER)
    measured = run_workflow(FOLDER, shipped, cores)
    text = report(FOLDER, config, measured)
    write_atomically(FOLDER / PAGE, text)
    return text
