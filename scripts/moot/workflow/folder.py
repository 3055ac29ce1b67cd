"""Which configuration built the tables of a working directory, so that another one does not take
their place unasked.

One folder is meant for one project: `results/tables` shows the experiments of the last
configuration run in it. Files laid over one another, edited files and the demonstration (the
default configuration alone) are one project; a configuration that has no file in common with the
last one is another.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from moot.core.durable import write_atomically
from moot.core.errors import UserError
from moot.plan.plan import Plan
from moot.workflow.job_digests import JobDigests

RECORD = Path("results/configuration.json")


@dataclass(frozen=True)
class Configured:
    """What built the tables of a folder.

    Attributes:
        files: the files of `--configfile`, those of the default configuration left out.
        experiments: name to a digest of all that its scores depend on in the configuration.
    """

    files: tuple[str, ...]
    experiments: Mapping[str, str]


def configured(jobs: JobDigests, plan: Plan, defaults: Iterable[Path]) -> Configured:
    """What a run would build tables of; `defaults` are the files of the default configuration."""
    known = {path.resolve() for path in defaults}
    files = [path.resolve() for path in plan.files]
    own = dict.fromkeys(path.as_posix() for path in files if path not in known)
    digests = {name: jobs.of("score", experiment=name).options for name in plan.experiments}
    return Configured(tuple(own), digests)


def take_folder(now: Configured, replace: bool) -> None:
    """Record that the tables of this folder are built by this configuration from now on.

    Raises:
        UserError: they are another one's, whose experiments would vanish or change, and `replace`
            does not allow it.
    """
    before = _read()
    if before and before.files and not set(before.files) & set(now.files) and not replace:
        lost = [
            name
            for name, digest in before.experiments.items()
            if now.experiments.get(name) != digest
        ]
        if lost:
            raise UserError(
                f"results/tables shows {len(lost)} experiments ({_some(lost)}) of"
                f" {_named(before.files)}; those of {_named(now.files)} would take their place."
                " Give each its own folder (snakemake --directory FOLDER), name both files after"
                " --configfile, or build over them with --config replace_results=true; no reply is"
                " lost."
            )
    write_atomically(RECORD, json.dumps(asdict(now), indent=1) + "\n")


def _read() -> Configured | None:
    try:
        content = json.loads(RECORD.read_text(encoding="utf-8"))
        return Configured(tuple(content["files"]), content["experiments"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _named(files: Iterable[str]) -> str:
    names = ", ".join(Path(file).name for file in files)
    return names or "the default configuration"


def _some(names: list[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
