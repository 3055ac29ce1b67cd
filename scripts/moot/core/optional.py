"""Imports of libraries that an extra installs."""

import importlib
from types import ModuleType

from moot.core.errors import UnavailableError, UserError


def import_optional(package: str, extra: str) -> ModuleType:
    """Import a library that an extra installs.

    Raises:
        UnavailableError: it is not installed. The message names the extra.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise UnavailableError(
            f"not installed: {package} (the extra '{extra}' installs it)"
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
