"""Implementations found by name: a new one is a new file in its room, and no edit anywhere else."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

from moot.core.errors import UserError, unknown_name

Entry = TypeVar("Entry")
_EXTENSION = ContextVar("extension", default="")


@contextmanager
def registering(extension: str) -> Iterator[None]:
    """Remember what is registered meanwhile as brought by a module of the user's own."""
    token = _EXTENSION.set(extension)
    try:
        yield
    finally:
        _EXTENSION.reset(token)


class Registry(Generic[Entry]):
    """Named entries that the modules of one room, and of the packages in it, register when they are imported.

    The modules are imported at the first look-up, so a module must import heavy libraries inside its functions.
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self.package = package
        self._entries: dict[str, Entry] = {}
        self._discovered = False
        self.extensions: dict[str, str] = {}
        """Entries that a module of the user's own registered: name to module."""

    def register(self, name: str) -> Callable[[Entry], Entry]:
        """Decorate an entry to make it known under `name`.

        Raises:
            UserError: a module of the user's own takes a name that is taken.
            ValueError: a module of moot does (a programming error).
        """

        def add(entry: Entry) -> Entry:
            if name in self._entries:
                if module := _EXTENSION.get() or self.extensions.get(name):
                    raise UserError(f"{module}: the {self.kind} '{name}' exists already. Give yours another name.")
                raise ValueError(f"{self.kind} '{name}' is registered twice")
            self._entries[name] = entry
            if module := _EXTENSION.get():
                self.extensions[name] = module
            return entry

        return add

    def _discover(self) -> None:
        if self._discovered:
            return
        self._discovered = True
        with registering(""):
            self._import_all()

    def _import_all(self) -> None:
        package = importlib.import_module(self.package)
        for module in pkgutil.walk_packages(package.__path__, f"{self.package}."):
            importlib.import_module(module.name)

    def __getitem__(self, name: str) -> Entry:
        self._discover()
        if name not in self._entries:
            raise unknown_name(self.kind, name, self._entries)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        self._discover()
        return iter(sorted(self._entries))

    def __contains__(self, name: object) -> bool:
        self._discover()
        return name in self._entries
