"""Files that are on the disk before anybody is told so."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moot.core.artifacts import atomic_path


def write_new(path: Path, text: str) -> bool:
    """Write a file that does not exist yet, whole and durable; False where it exists by now, and nothing is written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    part = Path(name)
    try:
        _write(part, text)
        part.chmod(0o644)
        os.link(part, path)
    except FileExistsError:
        return False
    finally:
        part.unlink()
    _sync_folder(path.parent)
    return True


def replace(path: Path, text: str) -> None:
    """Write a file whole and durable, in place of an earlier one."""
    with atomic_path(path) as part:
        _write(part, text)
    _sync_folder(path.parent)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other desks from changing files of a folder while the block runs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".desk.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
