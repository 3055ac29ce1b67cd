"""Read predictions off the transcripts of one experiment and model, and export the calls behind them."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.job import job_log
from moot.plan import Plan
from moot.predictions import write_predictions

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        write_predictions(
            plan,
            snakemake.wildcards.experiment,
            Path(snakemake.input.cases),
            [Path(shard) for shard in snakemake.input.shards],
            Path(snakemake.output.predictions),
            Path(snakemake.output.calls),
        )
