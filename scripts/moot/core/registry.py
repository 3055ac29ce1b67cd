"""Implementations found by name: a new one is a new file in its package, study or analysis."""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Generic, TypeVar

from moot.core.errors import UserError, unknown_name

Entry = TypeVar("Entry")
_EXTENSION = ContextVar("extension", default="")
FOLDERS = ("moot.studies", "moot.analyses", "moot.overview")
"""The packages of studies, of analyses, and of what every run gets."""


@contextmanager
def registering(extension: str) -> Iterator[None]:
    """Attribute entries that are registered in the block to a module of the user."""
    token = _EXTENSION.set(extension)
    try:
        yield
    finally:
        _EXTENSION.reset(token)


@cache
def _modules_in(package: str) -> list[str]:
    """Return a package and all modules below it, by name, without importing them.

    Names that begin with "_" are left out.
    """
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    files = list[Path]()
    for folder in map(Path, folders):
        files += [file.relative_to(folder) for file in folder.rglob("*.py")]
    names = []
    for file in sorted(files):
        if file.name == "__init__.py" or not file.name.startswith("_"):
            module = ".".join([package, *file.with_suffix("").parts])
            names.append(module.removesuffix(".__init__"))
    return names


def _calling_line(frame: FrameType) -> tuple[str, int]:
    """Return the file and line that registers an entry.

    Functions that register entries for others are passed over.
    """
    caller: FrameType | None = frame
    while caller and (
        caller.f_code.co_filename.endswith("__init__.py")
        or caller.f_code.co_name.startswith("register_")
    ):
        caller = caller.f_back
    if caller is None or caller.f_code.co_filename.startswith("<"):
        caller = frame  # a package registers the entry itself while it is imported
    return caller.f_code.co_filename, caller.f_lineno


class Registry(Generic[Entry]):
    """Named entries that modules register when they are imported.

    These are the modules of one room (`moot.protocols`), and the modules of studies and analyses
    whose names begin with the registry's word (`moot.studies.courtroom.protocol`), so that looking
    up a protocol does not import tables. They are imported at the first look-up. Therefore a module
    must import heavy libraries inside its functions.
    """

    def __init__(self, kind: str, word: str, room: str = "") -> None:
        self.kind = kind
        self.word = word
        self.room = room
        self._entries: dict[str, Entry] = {}
        self._discovered = False
        self._defaults: list[tuple[Callable[[], dict[str, Entry]], tuple[str, int]]] = []
        self.extensions: dict[str, str] = {}
        """Entries that a module of the user registered, with the module by name."""
        self.places: dict[str, tuple[str, int]] = {}
        """File and line where each entry was registered."""
        REGISTRIES.append(self)

    def register(self, name: str) -> Callable[[Entry], Entry]:
        """Return a decorator that registers an entry under `name`.

        Raises:
            UserError: a module of the user uses an existing name.
            ValueError: a module of moot does (a programming error).
        """

        place = _calling_line(sys._getframe(1))

        def add(entry: Entry) -> Entry:
            if name in self._entries:
                if module := _EXTENSION.get() or self.extensions.get(name):
                    raise UserError(
                        f"{module}: the {self.kind} '{name}' exists already. Give yours another"
                        " name."
                    )
                raise ValueError(f"{self.kind} '{name}' is registered twice")
            self._entries[name] = entry
            self.places[name] = place
            if module := _EXTENSION.get():
                self.extensions[name] = module
            return entry

        return add

    def register_defaults(self, entries: Callable[[], dict[str, Entry]]) -> None:
        """Register entries after all others, unless their names are taken."""
        self._defaults.append((entries, _calling_line(sys._getframe(1))))

    def _discover(self) -> None:
        if self._discovered:
            return
        self._discovered = True
        with registering(""):
            for module in self.modules():
                importlib.import_module(module)
        for entries, place in self._defaults:
            defaults = entries()
            self._entries = defaults | self._entries
            self.places = dict.fromkeys(defaults, place) | self.places

    def modules(self) -> list[str]:
        """Return the modules that may register entries: of the room, studies and analyses."""
        modules = list(_modules_in(self.room)) if self.room else []
        for package in FOLDERS:
            for name in _modules_in(package):
                if name.rpartition(".")[2].startswith(self.word):
                    modules.append(name)
        return modules

    def __getitem__(self, name: str) -> Entry:
        if name not in self._entries:  # an imported module has registered its entries
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


REGISTRIES: list[Registry[Any]] = []
