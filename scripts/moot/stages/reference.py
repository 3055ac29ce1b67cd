"""The generated parts of the documentation: what code already says, so that no page can say otherwise."""

import re
from collections.abc import Callable, Iterable, Mapping

from moot.core.schemas import ARTIFACTS

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


PARTS: Mapping[str, tuple[str, Callable[[], str]]] = {
    "artifacts": ("artifacts.md", artifacts_reference),
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
