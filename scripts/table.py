"""Write the tables that one job builds, as CSV, workbook, LaTeX and HTML."""

from typing import TYPE_CHECKING

from moot.jobs.results import write_shown
from moot.report import TABLES
from moot.report.tables import write_table
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        write_shown(plan, snakemake, TABLES, write_table)
