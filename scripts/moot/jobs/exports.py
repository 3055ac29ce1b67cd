"""Exports of a run: tables for spreadsheets, and logs of inspect_ai."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from moot.core.artifacts import atomic_path, read_frame, read_frames
from moot.jobs.job_results import load_model_results
from moot.plan.plan import Plan
from moot.report.escaping import csv_cell
from moot.report.exports import Export, write_inspect_log
from moot.report.workbook import write_workbook
from moot.scores.score import OVERALL

if TYPE_CHECKING:
    from snakemake.script import Snakemake


def write_log_of_job(plan: Plan, job: "Snakemake") -> None:
    """Write a job's debates as a log of inspect_ai."""
    scores, model = read_frame(Path(job.input.scores)), job.wildcards.model
    model_scores = scores[(scores["model"] == model) & (scores["group"] == OVERALL)]
    export = Export(load_model_results(plan, job), model, model_scores)
    write_inspect_log(export, Path(job.output[0]))


def write_exported_tables(artifacts: Mapping[str, Sequence[Path]], folder: Path) -> None:
    """Write a CSV file of each kind of artifact, and `debates.xlsx` with a sheet of each.

    Args:
        artifacts: the files of each kind ("predictions"), of all experiments and models.
        folder: where the files are written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    frames = {
        name: read_frames(files).map(_text_of_nested) for name, files in artifacts.items() if files
    }
    for name, frame in frames.items():
        safe = frame.map(csv_cell)
        with atomic_path(folder / f"{name}.csv") as part:
            # The byte-order mark tells Excel that the file is UTF-8.
            safe.to_csv(part, index=False, encoding="utf-8-sig")
    write_workbook(frames, folder / "debates.xlsx")


def _text_of_nested(value: object) -> object:
    """Return a list or a map (as pandas reads it: a list of pairs) as JSON, else the value."""
    if not isinstance(value, (list, np.ndarray)):
        return value
    items = [*value]
    is_map = bool(items) and all(isinstance(item, tuple) for item in items)
    return json.dumps(dict(items) if is_map else items, ensure_ascii=False)
