"""Say what the planned comparisons can show, and what a given difference takes."""

import sys
from typing import TYPE_CHECKING

from moot.commands.power import write_power
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        sys.stdout.write(write_power(plan))
