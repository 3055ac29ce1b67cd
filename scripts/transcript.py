"""Lay out the debates of one experiment and model for reading, as Markdown and as a page of the report."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.artifacts import atomic_path
from moot.jobs.results import model_results
from moot.report.transcripts import render_markdown, render_page
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        results = model_results(plan, snakemake)
        for render, path in ((render_markdown, snakemake.output.markdown), (render_page, snakemake.output.html)):
            with atomic_path(Path(path)) as part, part.open("w", encoding="utf-8") as page:
                page.writelines(render(results, snakemake.wildcards.model))
