"""Repeat recorded calls, and report whether the models still answer as before."""

import sys
from pathlib import Path

from moot.commands.drift import check_drift, write_drift
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        table = check_drift(plan, Path("results"))
        write_drift(table, Path("results/drift"))
        sys.stdout.write(table.to_string(index=False) + "\n")
