"""Write the summaries of one experiment and model as CaseLaw cases."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.studies.feedback.protocol_summaries import write_summaries
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        write_summaries([Path(shard) for shard in snakemake.input], Path(snakemake.output[0]))
