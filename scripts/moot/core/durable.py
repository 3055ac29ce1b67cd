"""Text files written atomically and durably."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


def write_atomically(path: Path, text: str, *, replace: bool = True, mode: int = 0o644) -> bool:
    """Write a file; return False if it exists and must not be replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        part = Path(folder, "part")
        with part.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        part.chmod(mode)
        try:
            part.replace(path) if replace else os.link(part, path)
        except FileExistsError:
            return False
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    return True


def write_if_changed(path: Path, text: str) -> None:
    """Write a file only if its content changes.

    Otherwise its time stays, by which Snakemake decides what to build.
    """
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_atomically(path, text)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keep other desks from changing files of a folder while the block runs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".desk.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
