"""Write the summaries of one experiment and model as CaseLaw cases."""

from pathlib import Path

from moot.studies.feedback.protocol_summaries import write_summaries
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        write_summaries([Path(shard) for shard in snakemake.input], Path(snakemake.output[0]))
