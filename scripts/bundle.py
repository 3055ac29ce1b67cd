"""Write a run into one file for others, and print the head of the ledger's log."""

import sys
from typing import TYPE_CHECKING

from moot.commands.bundling import bundle
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        sys.stdout.write(bundle(plan, snakemake.config))
