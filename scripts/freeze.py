"""Freeze the plan: record the planned comparisons before the run."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from moot.commands.freezing import freeze
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        sys.stdout.write(freeze(plan, Path("results"), datetime.now(UTC)))
