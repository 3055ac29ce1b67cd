"""Write the tables of a study that one module builds, as CSV, LaTeX and HTML."""

from typing import TYPE_CHECKING

from moot.jobs.results import outputs_by_name, study_results
from moot.report import TABLES
from moot.report.tables import write_table
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        results = study_results(plan, snakemake)
        for name, paths in outputs_by_name(snakemake.output).items():
            caption = paths.pop("rst")
            write_table(TABLES[name], results, paths)
            caption.write_text(TABLES[name].caption + "\n", encoding="utf-8")
