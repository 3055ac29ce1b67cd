"""Write a run into one file for others, and print the head of the ledger's log."""

import sys

from moot.commands.bundling import write_bundle
from moot.workflow import targets
from moot.workflow.empty_outputs import remove_empty_outputs
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        # A table that the last run removed may be built again, without being an input of this job.
        remove_empty_outputs(targets.page_contents(plan))
        sys.stdout.write(write_bundle(plan, snakemake.config))
