"""Draw the figures that one job draws, as PNG and SVG."""

from moot.jobs.job_results import write_registered
from moot.report import FIGURES
from moot.report.figures import draw
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        write_registered(plan, snakemake, FIGURES, draw)
