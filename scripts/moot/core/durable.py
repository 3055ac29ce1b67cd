"""Files that are on the disk before a person is told so."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


def write_durably(path: Path, text: str, *, replace: bool = False, mode: int = 0o644) -> bool:
    """Write a file whole and durable; False where it exists by now, and nothing is written, unless it is replaced."""
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


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other desks from changing files of a folder while the block runs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".desk.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
