"""Write the debates of one experiment and model as Markdown for people."""

from pathlib import Path

from moot.core.artifacts import atomic_path
from moot.jobs.job_results import load_model_results
from moot.report.transcript_pages import render_markdown
from moot.workflow.job import job

if __name__ == "__main__":
    with (
        job(globals()) as (plan, snakemake),
        atomic_path(Path(snakemake.output[0])) as part,
        part.open("w", encoding="utf-8") as page,
    ):
        page.writelines(
            render_markdown(load_model_results(plan, snakemake), snakemake.wildcards.model)
        )
