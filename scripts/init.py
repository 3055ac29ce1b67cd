"""Write a first configuration for the user. Ask on a terminal for the answers that `--config
init={...}` lacks.
"""

import sys

from moot.commands.init import write_configuration
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        sys.stdout.write(
            write_configuration(plan.config.init, input if sys.stdin.isatty() else None)
        )
