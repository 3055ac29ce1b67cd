"""The files that an option of the configuration names: a file, a folder or a pattern."""

from collections.abc import Collection
from pathlib import Path

from moot.core.natural_order import natural_key
from moot.core.text_files import GZIP


def list_files(path: Path, endings: Collection[str] = ()) -> list[Path]:
    """Return the files of a folder or a pattern in the order of their names, without hidden ones.

    Args:
        path: a file, a folder, or a pattern such as `a/*.csv`.
        endings: the endings of the files that are taken from a folder, in any case of letters.
            Default: all files.

    Returns:
        The path itself if it is a file, or if there are no files.
    """
    if any(mark in str(path) for mark in "*?["):
        root = Path(path.anchor or ".")
        candidates = list(root.glob(str(path.relative_to(root) if path.anchor else path)))
    elif path.is_dir():
        candidates = [file for file in path.iterdir() if not endings or _has_ending(file, endings)]
    else:
        return [path]
    files = [file for file in candidates if file.is_file() and not file.name.startswith(".")]
    return sorted(files, key=lambda file: natural_key(str(file))) or [path]


def _has_ending(file: Path, endings: Collection[str]) -> bool:
    name = file.name.casefold().removesuffix(GZIP)
    return name.endswith(tuple(endings))
