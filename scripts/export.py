"""Write the debates of one experiment and model as a log of inspect_ai."""

from moot.jobs.exports import write_log_of_job
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        write_log_of_job(plan, snakemake)
