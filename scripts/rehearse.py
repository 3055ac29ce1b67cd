"""Rehearse the whole configuration in the folder `rehearsal/`, and report what it took."""

import sys
from pathlib import Path

from moot.commands.rehearsing import rehearse
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        shipped = Path(snakemake.scriptdir).parent
        sys.stdout.write(rehearse(snakemake.config, shipped, snakemake.threads))
