"""A digest of code, so that an artifact is built again when the code that makes it changes, and not
before.

It covers a script or module and every module of this project, and of the user's extensions, that
these import, inside functions too. Comments, layout, docstrings and imports for type checkers alone
do not count; except docstrings of classes that extend another, which pydantic shows to models.
"""

import ast
import atexit
import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

from moot.core.durable import write_whole
from moot.core.extensions import FOLDERS

SCRIPTS = Path(__file__).resolve().parents[2]
PACKAGE = "moot"
KEPT = Path(f".snakemake/moot-code-{sys.version_info[0]}.{sys.version_info[1]}.json").absolute()
BOUNDARY = frozenset(
    {
        "moot.plan.plan",
        "moot.plan.kept",
        "moot.plan.experiments",
        "moot.workflow.job",
        "moot.workflow.records",
        "moot.workflow.digests",
        "moot.workflow.makers",
        "moot.workflow.own_files",
        "moot.workflow.stages",
    }
)
"""Modules that are not followed: what a job takes from the plan is in the digest of its options;
how a job is logged and recorded, and what reruns it, says nothing of what it makes.
"""


@cache
def code_digest(*modules: str) -> str:
    """A digest of scripts (`table`), modules (`moot.core.cases`), and every module that they
    import.

        Raises:
            ValueError: no such script or module (a programming error).
    """
    return hashlib.sha256(repr(sorted(modules_covered(*modules).items())).encode()).hexdigest()[:16]


def modules_covered(*modules: str) -> dict[str, str]:
    """The digest of each of some modules by itself, and of each that they import."""
    seen: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in seen and module not in BOUNDARY:
            seen[module], imported = _digest_and_imports(module)
            waiting.extend(imported)
    return seen


@cache
def _file_of(module: str) -> Path | None:
    stem = SCRIPTS.joinpath(*module.split("."))
    for package, folder in FOLDERS.items():
        if module.startswith(f"{package}."):
            stem = folder.joinpath(*module.removeprefix(f"{package}.").split("."))
    return next(
        (
            path
            for path in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py")
            if path.is_file()
        ),
        None,
    )


@cache
def _digest_and_imports(module: str) -> tuple[str, tuple[str, ...]]:
    path = _file_of(module)
    if path is None:
        raise ValueError(f"no module '{module}' below {SCRIPTS}")
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    content, table = (
        path.read_bytes(),
        path.with_suffix(".yaml"),
    )  # what a module reads as data is called as it is
    data = table.read_bytes() if table.is_file() else b""
    known, key = _kept(), hashlib.sha256(b"\0".join([package.encode(), content, data])).hexdigest()
    if key not in known:
        tree = ast.parse(content)
        named = sorted(set(_imports(tree, package)))
        _remove_docstrings(tree)
        known[key] = (hashlib.sha256(ast.dump(tree).encode() + data).hexdigest(), named)
    digest, named = known[key]
    return digest, tuple(name for name in named if _file_of(name))


@cache
def _kept() -> dict[str, tuple[str, list[str]]]:
    """What parsing found, by content, kept between runs in Snakemake's folder: parsing all takes
    seconds.

        A file that cannot be read or written costs time alone.
    """
    kept: dict[str, tuple[str, list[str]]] = {}
    with suppress(OSError, ValueError):
        kept.update(json.loads(KEPT.read_text(encoding="utf-8")))
    atexit.register(_keep, kept, len(kept))
    return kept


def _keep(kept: dict[str, tuple[str, list[str]]], before: int) -> None:
    if len(kept) > before and KEPT.parent.is_dir():
        with suppress(OSError):
            write_whole(KEPT, json.dumps(kept))


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    for node in _statements(tree, executed=True):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = (
                resolve_name("." * node.level + (node.module or ""), package)
                if node.level
                else str(node.module)
            )
            names = [source, *(f"{source}.{alias.name}" for alias in node.names)]
        for name in names:
            if name.split(".")[0] == PACKAGE:
                parts = name.split(".")
                yield from (".".join(parts[:end]) for end in range(2, len(parts) + 1))


def _statements(node: ast.AST, *, executed: bool = False) -> Iterator[ast.AST]:
    """A node and the statements in it, at any depth; of those that are `executed`, none for type
    checkers alone.
    """
    yield node
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING")) if executed:
            return
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        for child in getattr(node, field, ()):
            yield from _statements(child, executed=executed)


def _remove_docstrings(tree: ast.Module) -> None:
    for node in _statements(tree):
        if isinstance(node, ast.ClassDef) and node.bases:
            continue
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [inner for inner in node.body if not _is_text(inner)]


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
