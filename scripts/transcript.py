"""Lay out the debates of one experiment and model for reading, as Markdown or as a page of the report."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.artifacts import atomic_path
from moot.report.transcripts import render_markdown, render_page
from moot.stages.job import job
from moot.stages.results import model_results

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        results, path = model_results(plan, snakemake), Path(snakemake.output[0])
        render = render_page if path.suffix == ".html" else render_markdown
        with atomic_path(path) as part, part.open("w", encoding="utf-8") as page:
            page.writelines(render(results, snakemake.wildcards.model))
