"""Write the facts of the opinions of a data set to a sheet that a person can edit."""

from pathlib import Path

from moot.studies.appellate.data_opinions import write_deidentification
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        name = snakemake.wildcards.dataset
        options, context = plan.datasets[name], plan.load_context(name)
        write_deidentification(options, context, Path(snakemake.output[0]))
