"""Imports of libraries that an extra installs."""

import importlib
from types import ModuleType

from moot.core.errors import UnavailableError, UserError


def import_optional(package: str, extra: str) -> ModuleType:
    """Import a library that an extra installs.

    Raises:
        UnavailableError: it is not installed, and the message names the extra; or it cannot write
            where it keeps its files, such as below a home that is not writable.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise UnavailableError(
            f"not installed: {package} (the extra '{extra}' installs it)"
        ) from error
    except OSError as error:
        raise UnavailableError(
            f"{package} cannot be imported: {error}; let HOME name a writable folder"
        ) from error


def import_extra(module: str, extra: str) -> ModuleType:
    """Import a module that needs the packages of an extra of moot.

    Raises:
        UserError: a package is missing; names the extra.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UserError(f"{error}. Install the extra: make env EXTRAS={extra}") from None
