"""Say how much of each prompt is the beginning of an earlier one, and where it ends."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from moot.commands.prefixes import compare_prefixes, write_prefixes
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        found = compare_prefixes(plan, Path("results"))
        write_prefixes(found, Path("results/prefixes"))
        sys.stdout.write(found.to_string(index=False, float_format="{:.2f}".format) + "\n")
