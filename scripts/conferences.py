"""Lay out the conferences of one experiment and model as a page of the report."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.artifacts import atomic_path
from moot.report.conference_transcripts import render_page
from moot.stages.job import job
from moot.stages.results import model_results

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        results = model_results(plan, snakemake)
        with atomic_path(Path(snakemake.output[0])) as part:
            part.write_text(render_page(results, snakemake.wildcards.model), encoding="utf-8")
