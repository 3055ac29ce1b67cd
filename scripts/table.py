"""Write the tables that one job builds, as CSV, workbook, LaTeX and HTML."""

from moot.jobs.job_results import write_registered
from moot.report import TABLES
from moot.report.tables import write_table
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        write_registered(plan, snakemake, TABLES, write_table)
