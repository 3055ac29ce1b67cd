"""Write a run into one file for others, and print the head of the ledger's log."""

import sys

from moot.commands.bundling import write_bundle
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        sys.stdout.write(write_bundle(plan, snakemake.config))
