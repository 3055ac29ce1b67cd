"""Rebuild the tables of a bundle in `replay/`, and print which are byte for byte the same."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from moot.commands.replaying import replay
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        sys.stdout.write(replay(plan.config.bundle, Path(snakemake.scriptdir).parent, snakemake.threads))
