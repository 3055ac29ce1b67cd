"""Load one data set."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.job import job_log
from moot.load import load_dataset
from moot.plan import Plan

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        load_dataset(plan, snakemake.wildcards.dataset, *map(Path, snakemake.output))
