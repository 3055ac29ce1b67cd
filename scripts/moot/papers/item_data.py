"""The data of the papers' items, fetched before the first call to a model."""

from collections.abc import Iterable
from pathlib import Path

from moot.core.errors import UserError
from moot.datasets import LOADERS
from moot.datasets.download import Fetch, download
from moot.papers.selection import own_sources


def fetch_item_data(
    data_root: Path,
    versions: Path,
    loaders: Iterable[str],
    loaders_without_files: Iterable[str],
    fetch: Fetch | None = None,
) -> None:
    """Download the published files of data sets, and name the user's files that are missing.

    Args:
        data_root: The folder of data.
        versions: The file `data/versions.csv`.
        loaders: The loaders whose files are downloaded.
        loaders_without_files: The loaders that read files of the user and find none.
        fetch: Returns the bytes at a URL; tests pass another function.

    Raises:
        UserError: Files are missing. The message says how to get them, and how to use other data.
    """
    faults: list[str] = []
    local_data: list[str] = []
    own_data: list[str] = []
    for loader in sorted(set(loaders)):
        try:
            download(loader, data_root, versions, fetch)
        except UserError as fault:
            faults.append(str(fault))
            source = own_sources(LOADERS[loader].options)[0]
            own_data.append(f"{loader}: {source}")
            local_data.append(f"{loader}: local")
    for loader in sorted(set(loaders_without_files)):
        own_data.append(f"{loader}: {own_sources(LOADERS[loader].options)[0]}")
        faults.append(
            f"{data_root / LOADERS[loader].folder}: found no file of data set '{loader}',"
            " expected the files that data/raw/README.md lists. Put them there, or set the"
            " source to download."
        )
    if faults:
        lines = ["papers: data are missing; no model was asked.", *faults]
        if local_data:
            choice = ", ".join(local_data)
            lines.append(f"`papers: {{datasets: {{{choice}}}}}` reads files that you put there.")
        choice = ", ".join(dict.fromkeys(own_data))
        lines.append(
            f"`papers: {{datasets: {{{choice}}}}}` uses cases that moot provides, and the items "
            "state this."
        )
        raise UserError("\n".join(lines))
