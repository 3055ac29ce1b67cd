"""Where the entries of registries and hooks come from, and modules that nothing reaches.

    PYTHONPATH=scripts python -m moot.commands.registrations [WORD]

prints each registered name and each hook of analyses, with file and line; with a word, the rows
that contain it. A hook has a row for each analysis that overrides it, or one row that says that no
analysis does.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path
from types import FunctionType

import moot.commands.registered  # defines all registries except the one of analyses
import moot.papers  # defines the registry of the papers' items
import moot.protocols.controls  # noqa: F401 - defines the registry of controls
from moot.core.errors import UserError
from moot.core.registry import REGISTRIES
from moot.hooks import ANALYSES, Analysis
from moot.report.escaping import markdown_table

SCRIPTS = Path(__file__).resolve().parents[2]
DISCOVERED = ("studies", "analyses", "overview")
"""Folders whose modules are found by name, or are imported by such a module."""
OVERRIDDEN_BY_NONE = "overridden by no analysis"
"""The name in the row of a hook that only has its default."""


def describe_registrations() -> str:
    """Return a table of all registered entries and hooks in Markdown: name, kind, file and line."""
    rows = [*_registered_rows(), *_hook_rows()]
    rows.sort(key=lambda row: (row[1], row[0]))  # the order of imports differs between processes
    return markdown_table(("name", "kind", "file", "line"), rows)


def _registered_rows() -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each entry of each registry."""
    for registry in REGISTRIES:
        for name in registry:
            path, line = registry.places.get(name, ("", 0))
            yield (
                f"`{name}`",
                registry.kind,
                f"`{_relative(Path(path))}`" if path else "",
                str(line),
            )


def _hook_rows() -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each hook and analysis that overrides it, or one for a hook without any."""
    for hook, default in vars(Analysis).items():
        if not inspect.isfunction(default):
            continue
        overriding = [name for name in ANALYSES if hook in vars(type(ANALYSES[name]))]
        for name in overriding:
            yield f"`{name}`", *_hook_place(hook, vars(type(ANALYSES[name]))[hook])
        if not overriding:
            yield OVERRIDDEN_BY_NONE, *_hook_place(hook, default)


def _hook_place(hook: str, method: FunctionType) -> tuple[str, str, str]:
    """Return the kind, file and line of a row for a method that defines a hook."""
    code = method.__code__
    return f"hook `{hook}`", f"`{_relative(Path(code.co_filename))}`", str(code.co_firstlineno)


def _relative(file: Path) -> Path:
    """Return a file of moot relative to the project, and any other file unchanged."""
    return file.relative_to(SCRIPTS.parent) if file.is_relative_to(SCRIPTS) else file


def check_modules(scripts: Path = SCRIPTS) -> None:
    """Check that each module of a study or an analysis is imported, or found by a registry.

    Args:
        scripts: the folder with the package `moot`.

    Raises:
        UserError: with the names of all modules that are neither.
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


if __name__ == "__main__":
    heading, rule, *table_rows = describe_registrations().splitlines()
    for word in sys.argv[1:]:
        table_rows = [row for row in table_rows if word in row]
    sys.stdout.write("\n".join([heading, rule, *table_rows]) + "\n")
