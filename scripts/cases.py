"""Load one data set."""

from pathlib import Path

from snakemake.script import Snakemake

from moot.job import job_log
from moot.load import load_dataset
from moot.plan import Plan

snakemake: Snakemake

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.params.shipped))
        load_dataset(plan, snakemake.wildcards.dataset, *map(Path, snakemake.output))
