"""The part of a page of docs/ that a benchmark writes, between two comments."""

from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results.md"


def put(begin: str, end: str, written: str, page: Path = PAGE) -> None:
    """Write a text between two comments of the page."""
    before, rest = page.read_text(encoding="utf-8").split(begin)
    page.write_text(
        f"{before}{begin}\n{written}\n{end}{rest.split(end, maxsplit=1)[1]}", encoding="utf-8"
    )
