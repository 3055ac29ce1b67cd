"""Markdown for pages that are generated."""

from collections.abc import Iterable


def markdown_table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    headings = list(headings)
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    )
