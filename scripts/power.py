"""Say what the planned comparisons can show, and what a given difference takes."""

import sys
from typing import TYPE_CHECKING

from moot.stages.job import job
from moot.stages.power import write_power

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        sys.stdout.write(write_power(plan))
