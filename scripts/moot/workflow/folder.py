"""The configuration that built the tables of a working directory.

Another configuration does not replace them without being told to.

A folder is meant for one project: `results/tables` shows the experiments of its last configuration.
A project may edit its files, add further files, or be the demonstration (only the default
configuration). A configuration without a common file with the last one is another project, and so
is one whose `run` leaves out experiments of the last one.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from moot.core.durable import write_atomically
from moot.core.errors import UserError
from moot.plan.plan import Plan
from moot.report.figures import count_phrase
from moot.workflow.dependencies import configuration_digest

RECORD = Path("results/configuration.json")
_MAX_NAMES = 3


@dataclass(frozen=True)
class FolderConfiguration:
    """The configuration that built the tables of a folder.

    Attributes:
        files: the files of `--configfile`, without the default configuration.
        experiments: by name, a digest of the configuration that its scores depend on.
    """

    files: tuple[str, ...]
    experiments: Mapping[str, str]


def describe_configuration(plan: Plan, defaults: Iterable[Path]) -> FolderConfiguration:
    """Describe the configuration of a run for its tables.

    `defaults` are the files of the default configuration.
    """
    default_files = {path.resolve() for path in defaults}
    files = [path.resolve() for path in plan.files]
    paths = dict.fromkeys(path.as_posix() for path in files if path not in default_files)
    digests = {name: configuration_digest(plan, name) for name in plan.experiments}
    return FolderConfiguration(tuple(paths), digests)


def claim_folder(configuration: FolderConfiguration, replace: bool) -> None:
    """Record that this configuration builds the tables of this folder from now on.

    Raises:
        UserError: another configuration built them, its experiments would disappear or change, and
            `replace` does not allow it.
    """
    previous = _read_record()
    if previous and previous.files and not replace and _has_results():
        names = _replaced_names(previous, configuration)
        if names:
            earlier_files = _file_names(previous.files)
            raise UserError(
                f"results/ shows {count_phrase(len(names), 'experiment')} ({_first_names(names)})"
                f" of {earlier_files}. {_file_names(configuration.files)} would replace them."
                " Use a separate folder for each (snakemake --directory FOLDER), name both files"
                " after --configfile, or replace the pages with --config replace_results=true."
                f" No reply is lost: another run of {earlier_files} restores its tables without a"
                " call."
            )
    write_atomically(RECORD, json.dumps(asdict(configuration), indent=1) + "\n")


def _has_results() -> bool:
    """Return whether there is a page or table that could be replaced."""
    return any(any(RECORD.parent.glob(pattern)) for pattern in ("*.html", "tables/*", "papers/*"))


def _replaced_names(previous: FolderConfiguration, configuration: FolderConfiguration) -> list[str]:
    """Return the experiments whose results another project would replace.

    With the same files, edited, none is. With some of them, those that another `run` leaves out
    are: the first page would lose their answers.
    """
    if set(previous.files) == set(configuration.files):
        return []
    is_extended = bool(set(previous.files) & set(configuration.files))
    names = []
    for name, digest in previous.experiments.items():
        current = configuration.experiments.get(name)
        if current is None or (current != digest and not is_extended):
            names.append(name)
    return names


def _read_record() -> FolderConfiguration | None:
    try:
        content = json.loads(RECORD.read_text(encoding="utf-8"))
        return FolderConfiguration(tuple(content["files"]), content["experiments"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _file_names(files: Iterable[str]) -> str:
    names = ", ".join(Path(file).name for file in files)
    return names or "the default configuration"


def _first_names(names: list[str]) -> str:
    return ", ".join(names[:_MAX_NAMES]) + (", ..." if len(names) > _MAX_NAMES else "")
