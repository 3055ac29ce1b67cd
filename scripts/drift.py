"""Ask recorded calls again and say whether the models still answer as they did."""

import sys
from pathlib import Path

from moot.commands.drift import check_drift, write_drift
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        found = check_drift(plan, Path("results"))
        write_drift(found, Path("results/drift"))
        sys.stdout.write(found.to_string(index=False) + "\n")
