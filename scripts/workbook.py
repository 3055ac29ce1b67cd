"""Write all tables of a run as one Excel workbook."""

from pathlib import Path

from moot.report.workbook import write_tables
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (_, snakemake):
        write_tables([Path(path) for path in snakemake.input], Path(snakemake.output[0]))
