"""Markdown for pages that are generated."""

from collections.abc import Iterable


def markdown_table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    headings = list(headings)
    return "\n".join(_table_line(cells) for cells in (headings, ["---"] * len(headings), *rows))


def _table_line(cells: Iterable[str]) -> str:
    escaped = [cell.replace("|", r"\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"
