"""Train and score the baselines of one data set."""

from pathlib import Path

from moot.jobs.baselines import train_baselines
from moot.workflow.job import job
from moot.workflow.provenance import digests_of

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        train_baselines(
            plan,
            snakemake.wildcards.dataset,
            (Path(snakemake.input.cases), Path(snakemake.input.features)),
            (
                Path(snakemake.output.leaderboard),
                Path(snakemake.output.predictions),
                Path(snakemake.output.models),
            ),
            snakemake.threads,
            **digests_of(snakemake),
        )
