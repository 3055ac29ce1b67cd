"""Write a first configuration for the user.

Answers that `--config init={...}` lacks are asked for on a terminal.
"""

import sys

from moot.commands.init import write_configuration
from moot.core.printed_commands import as_started
from moot.workflow.job import job


def ask(question: str) -> str:
    """Return the user's answer; "" at the end of the input (Ctrl-D)."""
    try:
        return input(question)
    except EOFError:
        return ""


if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        answer = ask if sys.stdin.isatty() else None
        sys.stdout.write(as_started(write_configuration(plan.config.init, answer)))
