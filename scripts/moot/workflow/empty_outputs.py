"""Tables without values and figures without data: their files are removed when a run has ended.

Snakemake expects each output of a job to exist when the job ends, and only the job knows whether a
table has values. So the job writes all of its tables, and the end of a successful run removes those
without values. A list of the removed names lets the next run treat them as built.
"""

import json
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from moot.core.durable import write_atomically
from moot.report.figures import has_content
from moot.report.tables import missing_values

LIST = Path("results/without_content.json")
KINDS = {"tables": "csv", "figures": "svg"}
"""Folder below `results/` to the ending of the file that shows whether there is content."""


def name_of_output(path: str) -> str:
    """Return `tables/STUDY/NAME` or `figures/STUDY/NAME` of a file of a table or figure.

    Captions have the name of their table or figure; other files have none ("").
    """
    parts = PurePosixPath(path).parts[1:]
    if parts[:1] == ("captions",):
        parts = parts[1:]
    if len(parts) != 3 or parts[0] not in KINDS:
        return ""
    return "/".join([*parts[:2], parts[2].partition(".")[0]])


def removed_names() -> frozenset[str]:
    """Return the names of tables and figures whose files the last run removed."""
    try:
        names = json.loads(LIST.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return frozenset()
    return frozenset(map(str, names)) if isinstance(names, list) else frozenset()


def without_removed(paths: Iterable[str]) -> list[str]:
    """Return the paths that do not belong to a removed table or figure."""
    removed = removed_names()
    return [path for path in paths if name_of_output(path) not in removed]


def find_empty_outputs(outputs: Iterable[str]) -> list[str]:
    """Return the names of the tables and figures that exist without rows or data."""
    return _names_without_content(_existing_names(outputs))


def remove_empty_outputs(outputs: Iterable[str], kept_names: Collection[str] = ()) -> list[str]:
    """Remove the files of tables without rows and of figures without data, captions included.

    Args:
        outputs: Outputs of jobs that have ended, also of other kinds. One file of a table or figure
            is enough to remove all of its files.
        kept_names: Names of tables and figures whose files stay.

    Returns:
        The names of the tables and figures whose files are removed by this call.
    """
    existing_names = _existing_names(outputs)
    empty_names = _names_without_content(existing_names.difference(kept_names))
    for name in empty_names:
        for path in _files_of(name):
            path.unlink()
    still_removed = removed_names() - existing_names
    _write_list({*still_removed, *empty_names})
    return empty_names


def describe_removal(names: Collection[str]) -> str:
    """Return the sentence for the terminal on tables and figures whose files are removed."""
    return (
        f"{len(names)} tables and figures have no values in this run, so their files"
        f" are not kept: {', '.join(names)}."
    )


def _existing_names(outputs: Iterable[str]) -> set[str]:
    names = set(map(name_of_output, outputs)) - {""}
    return {name for name in names if _file_with_content(name).exists()}


def _names_without_content(names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if not _has_content(name))


def _file_with_content(name: str) -> Path:
    return Path("results") / f"{name}.{KINDS[name.partition('/')[0]]}"


def _files_of(name: str) -> list[Path]:
    """Return the existing files of a table or figure, with its caption."""
    results = Path("results")
    return [*results.glob(f"{name}.*"), *results.glob(f"captions/{name}.*")]


def _has_content(name: str) -> bool:
    path = _file_with_content(name)
    return has_content(path) if name.startswith("figures/") else not missing_values(path)


def _write_list(names: Collection[str]) -> None:
    if names:
        write_atomically(LIST, json.dumps(sorted(names), indent=1) + "\n")
    else:
        LIST.unlink(missing_ok=True)
