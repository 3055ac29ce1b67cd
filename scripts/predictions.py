"""Read predictions from the transcripts of one experiment and model, and export their calls."""

from pathlib import Path

from moot.jobs.predictions import write_predictions
from moot.workflow.job import job
from moot.workflow.provenance import digests_of

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        write_predictions(
            plan.config,
            plan.experiments[snakemake.wildcards.experiment],
            Path(snakemake.input.cases),
            [Path(shard) for shard in snakemake.input.shards],
            Path(snakemake.output.predictions),
            Path(snakemake.output.calls),
            **digests_of(snakemake),
        )
