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
class FolderConfiguration:
    """What built the tables of a folder.

    Attributes:
        files: the files of `--configfile`, those of the default configuration left out.
        experiments: name to a digest of all that its scores depend on in the configuration.
    """

    files: tuple[str, ...]
    experiments: Mapping[str, str]


def describe_configuration(
    jobs: JobDigests, plan: Plan, defaults: Iterable[Path]
) -> FolderConfiguration:
    """What a run would build tables of; `defaults` are the files of the default configuration."""
    default_files = {path.resolve() for path in defaults}
    files = [path.resolve() for path in plan.files]
    paths = dict.fromkeys(path.as_posix() for path in files if path not in default_files)
    digests = {name: jobs.of("score", experiment=name).options for name in plan.experiments}
    return FolderConfiguration(tuple(paths), digests)


def claim_folder(configuration: FolderConfiguration, replace: bool) -> None:
    """Record that the tables of this folder are built by this configuration from now on.

    Raises:
        UserError: they are another one's, whose experiments would vanish or change, and `replace`
            does not allow it.
    """
    previous = _read_record()
    if (
        previous
        and previous.files
        and not set(previous.files) & set(configuration.files)
        and not replace
    ):
        names = [
            name
            for name, digest in previous.experiments.items()
            if configuration.experiments.get(name) != digest
        ]
        if names:
            earlier_files = _file_names(previous.files)
            raise UserError(
                f"results/tables shows {len(names)} experiments ({_first_names(names)}) of"
                f" {earlier_files}; those of {_file_names(configuration.files)} would take their"
                " place. Give each its own folder (snakemake --directory FOLDER), name both files"
                " after --configfile, or build over them with --config replace_results=true; no"
                f" reply is lost, and {earlier_files}, run again, brings its tables back without a"
                " call."
            )
    write_atomically(RECORD, json.dumps(asdict(configuration), indent=1) + "\n")


def _read_record() -> FolderConfiguration | None:
    try:
        content = json.loads(RECORD.read_text(encoding="utf-8"))
        return FolderConfiguration(tuple(content["files"]), content["experiments"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _file_names(files: Iterable[str]) -> str:
    names = ", ".join(Path(file).name for file in files)
    return names or "the default configuration"


def _first_names(names: list[str], count: int = 3) -> str:
    return ", ".join(names[:count]) + (", ..." if len(names) > count else "")
