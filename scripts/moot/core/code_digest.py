"""A digest of source files: artifacts are built again when their code changes.

Rules state code as paths below `scripts/moot`: a folder with all that is in it (`core`), a file
(`jobs/load.py`), or a pattern (`studies/*/scores*.py`); a plain file name is a script
(`cases.py`), an absolute path a folder of extensions, and `!studies/*/tables*.py` excludes files.
"""

import hashlib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from moot.core.extensions import FOLDERS

SCRIPTS = Path(__file__).resolve().parents[2]


def source_files(*names: str) -> Iterator[Path]:
    """Yield the files that names of code denote; each once.

    Raises:
        ValueError: a name denotes no file (a programming error).
    """
    excluded = [name[1:] for name in names if name.startswith("!")]
    paths: dict[Path, None] = {}
    for name in names:
        if not name.startswith("!"):
            paths.update(dict.fromkeys(_matching_files(name)))
    for path in paths:
        if not any(fnmatch(_name_in_moot(path), pattern) for pattern in excluded):
            yield path


@cache
def digest_of(*names: str) -> str:
    """Return a digest of the names and contents of source files; see `source_files`."""
    content = hashlib.sha256()
    for path in source_files(*names):
        content.update(f"{path.name} {_digest_of_file(path)}\n".encode())
    return content.hexdigest()[:16]


def source_of(module: str) -> str:
    """Return the code that a module depends on besides the shared folders.

    It is its study, analysis or extension, or its file.
    """
    for package, folder in FOLDERS.items():
        if module.startswith(f"{package}."):
            return str(folder)
    parts = module.split(".")[1:]
    if parts[0] in ("studies", "analyses"):
        return "/".join(parts[:2])
    path = "/".join(parts)
    return path if (SCRIPTS / "moot" / path).is_dir() else f"{path}.py"


@cache
def _matching_files(name: str) -> tuple[Path, ...]:
    is_script = "/" not in name and name.endswith(".py")
    folder = SCRIPTS if is_script else SCRIPTS / "moot"
    paths = [Path(name)] if Path(name).is_absolute() else sorted(folder.glob(name))
    files: list[Path] = []
    for path in paths:
        files += sorted(path.rglob("*")) if path.is_dir() else [path]
    sources = tuple(file for file in files if file.is_file() and file.suffix not in (".pyc", ".md"))
    if not sources:
        raise ValueError(f"no source file '{name}' below {SCRIPTS}")
    return sources


@cache
def _name_in_moot(path: Path) -> str:
    """Return the name of a file below `scripts/moot`; "" for a file elsewhere."""
    folder = SCRIPTS / "moot"
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else ""


@cache
def _digest_of_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
