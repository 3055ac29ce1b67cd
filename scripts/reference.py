"""Write what a configuration may name, with all parameters."""

from pathlib import Path

from moot.commands.registered import registered
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (_, snakemake):
        Path(snakemake.output[0]).write_text(
            f"# What a configuration may name\n\n{registered()}", encoding="utf-8"
        )
