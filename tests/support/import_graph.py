"""Which modules of moot a script or module imports, directly or not."""

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


BOUNDARY = ("moot.plan.", "moot.workflow.")
"""Packages that are not followed: options and digests cover what jobs take from them."""


def imported_files(*modules: str) -> set[Path]:
    """Return the files of modules (`moot.core.cases`) or scripts (`cases`) and their imports."""
    files: set[Path] = set()
    remaining = list(modules)
    while remaining:
        module = remaining.pop()
        path = _file_of(module)
        if path and path not in files and not module.startswith(BOUNDARY):
            files.add(path)
            remaining += _imports(path, module)
    return files


@cache
def _file_of(module: str) -> Path | None:
    stem = SCRIPTS.joinpath(*module.split("."))
    for path in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _imports(path: Path, module: str) -> list[str]:
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    names: list[str] = []
    for node in _executed(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                source = resolve_name("." * node.level + source, package)
            names += [source, *(f"{source}.{alias.name}" for alias in node.names)]
    return [name for name in names if name.startswith("moot.")]


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes in it, without imports that are only for type checkers."""
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _executed(child)
