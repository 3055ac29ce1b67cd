"""Write the pages of papers from the results that exist."""

from pathlib import Path

from moot.jobs.papers import standing_plan, write_paper, write_standing_paper
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        files = [Path(path) for path in snakemake.params.files]
        plan_of_pages = standing_plan(plan, snakemake.config)
        for paper in snakemake.params.papers:
            if snakemake.output:
                write_paper(plan_of_pages, paper, files)
            else:
                write_standing_paper(plan, paper, files)
