"""Draw the figures that one job draws, as PNG and SVG."""

from typing import TYPE_CHECKING

from moot.jobs.results import write_shown
from moot.report import FIGURES
from moot.report.figures import draw
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        write_shown(plan, snakemake, FIGURES, draw)
