"""Implementations found by name: a new one is a new file in its room, and no edit anywhere else."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from moot.core.errors import unknown_name

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    """Named entries that the modules of one room, and of the packages in it, register when they are imported.

    The modules are imported at the first look-up, so a module must import heavy libraries inside its functions.
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self.package = package
        self._entries: dict[str, Entry] = {}
        self._discovered = False

    def register(self, name: str) -> Callable[[Entry], Entry]:
        """Decorate an entry to make it known under `name`; a name taken twice is a programming error."""

        def add(entry: Entry) -> Entry:
            if name in self._entries:
                raise ValueError(f"{self.kind} '{name}' is registered twice")
            self._entries[name] = entry
            return entry

        return add

    def _discover(self) -> None:
        if self._discovered:
            return
        self._discovered = True
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
