"""Compute the smallest differences that planned comparisons can show, and the cases they need."""

import sys

from moot.commands.power_report import write_power
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        sys.stdout.write(write_power(plan))
