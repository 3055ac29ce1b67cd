"""Write the names that a configuration may use, with all parameters."""

from pathlib import Path

from moot.commands.registered import describe_registered
from moot.commands.registrations import check_modules, describe_registrations
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (_, snakemake):
        check_modules()
        places = f"## Where each is registered\n\n{describe_registrations()}"
        text = f"# What a configuration may name\n\n{describe_registered()}\n\n{places}\n"
        Path(snakemake.output[0]).write_text(text, encoding="utf-8")
