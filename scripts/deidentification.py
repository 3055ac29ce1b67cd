"""Write what de-identification did to each opinion of a data set, and the map of its names."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.deidentify.account import write_account
from moot.job import job_log
from moot.plan import Plan

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        write_account(plan, snakemake.wildcards.dataset, Path(snakemake.output[0]))
