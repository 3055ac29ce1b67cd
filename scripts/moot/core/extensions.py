"""The user's own modules outside the project: each configured folder becomes a package.

`extensions: [mine]` makes `mine/trial.py` the module `moot.extensions.mine.trial`, which registers
its entries when it is imported, as modules of moot do. Processes that a job starts (folds of a
cross-validation) know the folders as well.
"""

import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path

from moot.core.errors import UserError
from moot.core.registry import registering

PACKAGE = "moot.extensions"
VARIABLE = "MOOT_EXTENSIONS"
FOLDERS: dict[str, Path] = {}
"""The folders that are known, by the names of their packages."""


def load_extensions(folders: Iterable[str]) -> list[Path]:
    """Import the modules of some folders, so that their entries are registered; each folder once.

    Raises:
        UserError: a folder does not exist, its name is not a Python identifier, two folders have
            the same name, or a module cannot be imported (with its line).
    """
    paths = [Path(folder).expanduser().absolute() for folder in folders]
    for folder in paths:
        if not folder.is_dir():
            raise UserError(
                f"{folder}: no such folder of extensions (sought from the working directory)."
            )
        if not folder.name.isidentifier():
            raise UserError(
                f"{folder}: its name becomes a package of Python; use only letters, digits and '_'."
            )
        if FOLDERS.get(_package(folder), folder) != folder:
            raise UserError(
                f"{folder}: {FOLDERS[_package(folder)]} has the same name. Rename one of them."
            )
        add_folder(folder)
        for module in pkgutil.walk_packages([str(folder)], f"{_package(folder)}."):
            _import(module.name, folder)
    return paths


def add_folder(folder: Path) -> None:
    """Make a folder the package `moot.extensions.NAME`, here and in processes started later."""
    package = _package(folder)
    if package in FOLDERS:
        return
    spec = ModuleSpec(package, None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    sys.modules[package] = module_from_spec(spec)
    FOLDERS[package] = folder
    os.environ[VARIABLE] = os.pathsep.join(map(str, FOLDERS.values()))


def _package(folder: Path) -> str:
    return f"{PACKAGE}.{folder.name}"


def _import(module: str, folder: Path) -> None:
    try:
        with registering(module):
            importlib.import_module(module)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{_place(error, folder)}: {type(error).__name__}: {error}.") from None


def _place(error: Exception, folder: Path) -> str:
    """Return the file and line in the user's code that an error comes from."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(str(folder))
    ]
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else str(folder)
