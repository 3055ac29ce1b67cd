"""Train the reliability assistant on the debates of one experiment and model."""

from pathlib import Path

from moot.studies.feedback.reliability import write_assistant
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        write_assistant(
            Path(snakemake.input.cases),
            [Path(shard) for shard in snakemake.input.shards],
            snakemake.wildcards.features,
            plan.config.seed,
            Path(snakemake.output[0]),
        )
