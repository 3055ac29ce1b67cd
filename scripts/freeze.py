"""Freeze the plan: write down what is to be compared, before the run."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from moot.commands.freezing import freeze
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        sys.stdout.write(freeze(plan, Path("results"), datetime.now(UTC)))
