"""Write the summaries of one experiment and model as CaseLaw cases."""

from pathlib import Path

from snakemake.script import Snakemake

from moot.job import job_log
from moot.protocols.summaries import write_summaries

snakemake: Snakemake

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        write_summaries([Path(shard) for shard in snakemake.input], Path(snakemake.output[0]))
