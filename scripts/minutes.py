"""Write the minutes of one experiment's and model's decision conferences, one Markdown document each."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.jobs.results import model_results
from moot.studies.conference.minutes import render_minutes
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        folder = Path(snakemake.output[0])
        folder.mkdir(parents=True, exist_ok=True)
        for number, text in render_minutes(model_results(plan, snakemake), snakemake.wildcards.model):
            (folder / f"{number:03d}.md").write_text(text, encoding="utf-8")
