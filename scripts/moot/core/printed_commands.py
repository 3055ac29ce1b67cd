"""Commands in messages, as the user starts moot: with `moot` after pip, `snakemake` in a clone."""

import os
import re
import shlex
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

STARTED_BY = "MOOT_STARTED_BY"
"""The environment variable with the beginning of the user's command."""
_CONFIGURATION = re.compile(r"(--configfile) ([\w.-]+\.ya?ml)")
"""A file in the folder of the run, in the commands that `init` prints."""


def remember_start(arguments: Sequence[str]) -> None:
    """Keep how a run was started, with the folder that it works in, for its jobs."""
    words = [os.environ.get(STARTED_BY, "snakemake").split()[0]]
    for option, value in pairwise(arguments):
        if option in ("--directory", "-d"):
            words += ["--directory", value]
    os.environ[STARTED_BY] = shlex.join(words)


def as_started(text: str) -> str:
    """Return a message whose commands begin as the user's did."""
    started_by = os.environ.get(STARTED_BY, "snakemake")
    if started_by.startswith("moot"):
        text = re.sub(r"make env EXTRAS=(\w+)", r"pip install 'moot[\1]'", text)
    words = shlex.split(started_by)
    if "--directory" in words:  # Snakemake reads `--configfile` from where it is started
        folder = Path(words[words.index("--directory") + 1])
        text = _CONFIGURATION.sub(
            lambda match: f"{match[1]} {shlex.quote(str(folder / match[2]))}", text
        )
    text = re.sub(r"\bsnakemake (?=--directory)", f"{words[0]} ", text)  # names another folder
    pattern = r"\bsnakemake (?!--directory)(?=[-a-z])"
    return re.sub(pattern, lambda _: f"{started_by} ", text)
