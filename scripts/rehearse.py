"""Run the whole configuration with simulated voices, elsewhere, and say what the real run would take."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from moot.stages.job import job
from moot.stages.rehearsing import rehearse

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        shipped = Path(snakemake.scriptdir).parent
        sys.stdout.write(rehearse(snakemake.config, plan.config, shipped, snakemake.threads))
