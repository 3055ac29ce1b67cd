"""The generated parts of the documentation: what code already says, so that no page can say otherwise."""

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from moot.core.schemas import ARTIFACTS

ROOMS = (
    "stages", "studies", "report", "scores", "protocols", "training", "labels", "datasets", "llm",
    "core", "legal", "stats",
)  # fmt: skip
"""The packages of `moot`, from those that import to those that are imported."""
_PACKAGE = Path(__file__).resolve().parents[1]
_BLOCK = r"(<!-- {name}: make docs -->\n).*?(<!-- end of {name} -->)"


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    headings = list(headings)
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def artifacts_reference() -> str:
    """Every Parquet file and its columns."""
    parts = []
    for name, artifact in ARTIFACTS.items():
        columns = [(f"`{column}`", str(kind), text) for column, (kind, text) in artifact.columns.items()]
        further = [("...", "", artifact.further)] if artifact.further else []
        path = f"`results/{artifact.path}`" if artifact.path[0] != "(" else artifact.path
        parts.append(f"### {name}\n\n{path}: one row is {artifact.row}.\n\n")
        parts.append(table(("column", "type", "what it holds"), [*columns, *further]) + "\n\n")
    return "".join(parts).rstrip()


def rooms_reference() -> str:
    """Every package of `moot` and its modules, in the words of their docstrings."""
    parts = []
    for room in ROOMS:
        folder = _PACKAGE / room
        described = {path: _first_paragraph(path) for path in sorted(folder.rglob("*.py"))}
        parts.append(f"### `{room}/`\n\n{described.pop(folder / '__init__.py')}\n\n")
        modules = [(f"`{_module_name(path, folder)}`", words.rstrip(".")) for path, words in described.items()]
        parts.append(table(("module", "what it holds"), modules) + "\n\n")
    return "".join(parts).rstrip()


def _module_name(path: Path, folder: Path) -> str:
    name = path.relative_to(folder).with_suffix("").as_posix()
    return name.removesuffix("__init__")


def _first_paragraph(path: Path) -> str:
    words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(words.split("\n\n")[0].split())


PARTS: Mapping[str, tuple[str, Callable[[], str]]] = {
    "artifacts": ("artifacts.md", artifacts_reference),
    "rooms": ("architecture.md", rooms_reference),
}
"""Name to the page below `docs/` that holds a generated part, and what writes it."""


def with_part(page: str, name: str, text: str) -> str:
    """A page with one of its generated parts written anew.

    Raises:
        ValueError: the page has no place for it (a programming error).
    """
    pattern = re.compile(_BLOCK.format(name=name), re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"no '<!-- {name}: make docs -->' in the page")
    return pattern.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page)
