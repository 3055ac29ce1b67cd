"""Print what a run would still ask of the models."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from moot.job import job_log
from moot.plan import Plan
from moot.preview import preview

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        sys.stdout.write(preview(plan, Path("results")).to_string(index=False, na_rep="") + "\n")
