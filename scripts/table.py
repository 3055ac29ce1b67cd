"""Write the tables of a study that one module builds, as CSV, LaTeX and HTML."""

from typing import TYPE_CHECKING

from moot.report.tables import write_table
from moot.stages.job import job
from moot.stages.results import outputs_by_name, study_results
from moot.studies import TABLES

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
