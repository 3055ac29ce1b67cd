"""Write the reader's page of one study: all its debates, to be opened in a browser."""

from pathlib import Path

from moot.core.artifacts import atomic_path
from moot.jobs.job_results import load_study_debates
from moot.report.reader import render_reader
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        parts = Path(snakemake.output.parts)
        parts.mkdir(parents=True, exist_ok=True)
        pieces = render_reader(
            snakemake.wildcards.study,
            load_study_debates(plan, snakemake),
            parts,
            plan.config.leave_out,
        )
        with (
            atomic_path(Path(snakemake.output.page)) as part,
            part.open("w", encoding="utf-8") as page,
        ):
            page.writelines(pieces)
