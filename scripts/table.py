"""Write one table of a study as CSV, LaTeX and HTML."""

from pathlib import Path

from snakemake.script import Snakemake

from moot.job import job_log
from moot.present import TABLES
from moot.present.formats import write_table
from moot.results import results_of_job

snakemake: Snakemake

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        entry = TABLES[f"{snakemake.wildcards.study}/{snakemake.wildcards.table}"]
        paths = {ending: Path(path) for ending, path in snakemake.output.items()}
        write_table(entry, results_of_job(snakemake), paths)
