"""Say whether models, keys, data and disk are ready for a run."""

import sys
from typing import TYPE_CHECKING

from moot.commands.doctor import doctor
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        sys.stdout.write(doctor(plan))
