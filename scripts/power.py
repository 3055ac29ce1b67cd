"""Compute the smallest differences that the planned comparisons can show, and the cases that a
given difference needs.
"""

import sys

from moot.commands.power_report import write_power
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        sys.stdout.write(write_power(plan))
