"""The part of a page of docs/ that a benchmark writes, between two comments."""

from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results.md"


def replace_part(begin_mark: str, end: str, text: str, page: Path = PAGE) -> None:
    """Write a text between two comments of the page."""
    head, rest = page.read_text(encoding="utf-8").split(begin_mark)
    page.write_text(
        f"{head}{begin_mark}\n{text}\n{end}{rest.split(end, maxsplit=1)[1]}", encoding="utf-8"
    )
