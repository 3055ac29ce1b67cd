"""Train the reliability assistant on the debates of one experiment and model."""

from pathlib import Path

from snakemake.script import Snakemake

from moot.job import job_log
from moot.plan import Plan
from moot.reliability import write_assistant

snakemake: Snakemake

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        write_assistant(
            Path(snakemake.input.cases),
            [Path(shard) for shard in snakemake.input.shards],
            snakemake.wildcards.features,
            plan.config.seed,
            Path(snakemake.output[0]),
        )
