"""Check whether models, keys, data and disk are ready for a run."""

import sys

from moot.commands.doctor import doctor
from moot.core.printed_commands import as_started
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        sys.stdout.write(as_started(doctor(plan)))
