"""Rebuild the tables of a bundle in `replay/`, and print which are byte for byte the same."""

import sys
from pathlib import Path

from moot.commands.replaying import replay
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        sys.stdout.write(
            replay(plan.config.bundle, Path(snakemake.scriptdir).parent, snakemake.threads)
        )
