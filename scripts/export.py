"""Write the debates of one experiment and model in a form that another tool reads."""

from typing import TYPE_CHECKING

from moot.jobs.exports import write_export
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        write_export(plan, snakemake)
