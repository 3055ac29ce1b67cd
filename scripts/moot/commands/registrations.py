"""Where the entries of registries come from, and modules that nothing reaches."""

import ast
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path

import moot.commands.registered  # defines all registries but that of analyses
import moot.datasets.people.changes  # defines the registry of changes of people
import moot.hooks  # defines the registry of analyses
import moot.papers  # defines the registry of the papers' items
import moot.protocols.controls  # defines the registry of controls
import moot.report.habits  # noqa: F401 - defines the registry of habits
from moot.core.errors import UserError
from moot.core.registry import REGISTRIES
from moot.report.markdown import markdown_table

SCRIPTS = Path(__file__).resolve().parents[2]
DISCOVERED = ("studies", "analyses", "overview")
"""Folders whose modules are found by their names, or imported by one that is."""


def describe_registrations() -> str:
    """Return a table of all registered entries in Markdown: name, kind, file and line."""
    rows: list[tuple[str, str, str, str]] = []
    for registry in REGISTRIES:
        for name in registry:
            path, line = registry.places.get(name, ("", 0))
            file = Path(path)
            is_moot = file.is_relative_to(SCRIPTS)
            relative_path = file.relative_to(SCRIPTS.parent) if is_moot else file
            rows.append(
                (f"`{name}`", registry.kind, f"`{relative_path}`" if path else "", str(line))
            )
    rows.sort(key=lambda row: (row[1], row[0]))  # the order of imports differs between processes
    return markdown_table(("name", "kind", "file", "line"), rows)


def check_modules(scripts: Path = SCRIPTS) -> None:
    """Check that each module of a study or an analysis is imported, or found by a registry.

    Args:
        scripts: the folder with the package `moot`.

    Raises:
        UserError: naming each module that is neither.
    """
    reached = set[str]().union(*(registry.modules() for registry in REGISTRIES))
    modules: dict[str, Path] = {}
    for path in sorted((scripts / "moot").rglob("*.py")):
        name = ".".join(path.relative_to(scripts).with_suffix("").parts)
        modules[name.removesuffix(".__init__")] = path
    for name, path in modules.items():
        reached.update(_imported_modules(path, name))
    for path in scripts.glob("*.py"):
        reached.update(_imported_modules(path, ""))
    unreached = [
        name
        for name, path in modules.items()
        if name.split(".")[1:2] and name.split(".")[1] in DISCOVERED
        if path.stem != "__init__" and name not in reached
    ]
    if unreached:
        words = ", ".join(sorted({f"{registry.word}*.py" for registry in REGISTRIES}))
        listing = "\n".join(f"  {modules[name]}" for name in unreached)
        raise UserError(
            f"{len(unreached)} modules are neither imported nor found by a registry:\n{listing}\n"
            f"Registries find modules of studies by the beginning of their names: {words}."
            " Rename the module, import it, or delete it."
        )


def _imported_modules(path: Path, module: str) -> Iterator[str]:
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                source = resolve_name("." * node.level + source, package)
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)
