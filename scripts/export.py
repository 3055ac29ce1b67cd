"""Write the debates of one experiment and model in a form that another tool reads."""

from moot.jobs.run_exports import write_export
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        write_export(plan, snakemake)
