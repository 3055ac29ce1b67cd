"""Write the bundle of a run as an RO-Crate."""

from moot.commands.crate import write_crate
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, _snakemake):
        write_crate(plan.config.publication)
