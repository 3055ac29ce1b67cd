"""The command `moot`: Snakemake with the shipped workflow, from any folder.

It adds the parts of a clone: the Snakefile, its profile, and all cores if no number is given.
"""

import getpass
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from moot import __version__
from moot.core.printed_commands import STARTED_BY
from moot.core.shipped_files import SHIPPED

USAGE = """\
moot: argue cases before panels of language models, and measure the results.

  moot run                                everything that the configuration names, into ./results
  moot run courtroom debates              these studies and stages
  moot run --configfile my.yaml           your own configuration; targets come before options
  moot init                               writes my.yaml: asks for model, data and budget
  moot doctor --configfile my.yaml        whether models, keys, data and disk are ready
  moot preview --configfile my.yaml       the remaining calls of a run, and their cost
  moot desk --configfile my.yaml          pages on which people take seats in debates and label
  moot power | freeze | rehearse | export | readers | any file below results/

All options of Snakemake work (snakemake --help). The workflow is in
  {shipped}
"""
_SCHEDULING = ("-c", "-j", "-e", "--cores", "--jobs", "--executor", "--profile")


def snakemake_command(arguments: Sequence[str]) -> list[str]:
    """Return the command that runs Snakemake on the shipped Snakefile, with targets first.

    Otherwise every word after `--configfile` would count as a file.
    """
    command = [
        sys.executable,
        "-m",
        "snakemake",
        *arguments,
        "--snakefile",
        str(SHIPPED / "Snakefile"),
    ]
    if not any(argument.startswith(_SCHEDULING) for argument in arguments):
        command += ["--cores", "all"]
    return command


def command_of(arguments: Sequence[str]) -> list[str]:
    """Return the command that a call of `moot` stands for."""
    word, *rest = arguments
    if word == "desk":
        return [
            sys.executable,
            str(SHIPPED / "scripts" / "desk.py"),
            *snakemake_command(["debates", *rest]),
        ]
    return snakemake_command(rest if word == "run" else arguments)


def _ensure_user_entry() -> None:
    """Set a name and a home folder for a user without an entry in the system's list.

    A container that runs with `--user` has such a user. Snakemake needs both and fails without
    them.
    """
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["USER"] = f"user-{os.getuid()}"
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = tempfile.gettempdir()


def main() -> None:
    """Replace this process with the command of the arguments."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        sys.stdout.write(USAGE.format(shipped=SHIPPED))
    elif arguments[0] == "--version":
        sys.stdout.write(f"moot {__version__}\n")
    else:
        command = command_of(arguments)
        _ensure_user_entry()
        os.environ[STARTED_BY] = "moot"
        os.execv(command[0], command)  # noqa: S606 - our own command


if __name__ == "__main__":
    main()
