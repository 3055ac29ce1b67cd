"""Exports of debates in the formats of other tools, from a plan and a job's inputs."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.artifacts import read_frame
from moot.jobs.job_results import load_model_results
from moot.plan.plan import Plan
from moot.report.exports import EXPORTERS, Export
from moot.scores.score import OVERALL

if TYPE_CHECKING:
    from snakemake.script import Snakemake


def write_export(plan: Plan, job: "Snakemake") -> None:
    """Write a job's debates in the format that its rule names."""
    scores, model = read_frame(Path(job.input.scores)), job.wildcards.model
    model_scores = scores[(scores["model"] == model) & (scores["group"] == OVERALL)]
    export = Export(load_model_results(plan, job), model, model_scores)
    EXPORTERS[job.params.format].write(export, Path(job.output[0]))
