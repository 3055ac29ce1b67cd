"""The text of the user's copy of a paper: a PDF, an HTML page or plain text."""

import re
from collections import Counter
from html import unescape
from pathlib import Path

from moot.core.errors import UserError
from moot.core.text_files import read_text

_FIRST_BYTES = 1024
"""The mark of a PDF is within this number of bytes."""
_MIN_LETTERS = 200
"""A file with fewer letters than this does not contain a paper; a scanned PDF has no letters."""
_REPEATED_PAGES = 3
"""A first or last line that occurs on so many pages is a running head."""
_HEAD_LINES = 2
_BLOCK_TAGS = (
    "address article blockquote br caption cite code dd div dl dt figcaption figure footer h1 h2 h3"
    " h4 h5 h6 header hr li main ol p pre section table tbody td th thead title tr ul"
)
_INLINE_TAGS = "a abbr b em font i mark s small span strong sub sup tt u"
_SKIPPED = re.compile(r"<(script|style|noscript|template)\b.*?</\1>", re.I | re.S)
_TAG = re.compile(r"<[^<>]+>")
_STRAY_TAG = re.compile(
    rf"</?(?:{f'{_BLOCK_TAGS} {_INLINE_TAGS}'.replace(' ', '|')})(?:\s[^<>]*)?/?>", re.I
)
_CODE_FENCE = re.compile(r"(?m)^[ \t]*```\w*[ \t]*$")


def read_paper(path: Path) -> str:
    """Read the text of a paper.

    A PDF is read page by page without running heads, HTML without tags.

    Raises:
        UserError: The file does not exist, cannot be read, or has no text.
    """
    if not path.is_file():
        raise UserError(
            f"{path}: no such file; expected a paper as PDF, HTML or text. Name the file:"
            " --config prompts_from=FILE."
        )
    with path.open("rb") as file:
        is_pdf = file.read(_FIRST_BYTES).lstrip().startswith(b"%PDF-")
    if is_pdf:
        return _read_pdf(path)
    text = read_text(path)
    if re.search(r"<(?:!doctype\s+html|html|body)\b", text[:5000], re.I):
        text = _read_html(text)
    else:
        text = _join_pages(_CODE_FENCE.sub("", _STRAY_TAG.sub("\n", text)).split("\f"))
    if _count_letters(text) < _MIN_LETTERS:
        raise UserError(
            f"{path}: found {_count_letters(text)} letters; expected the text of a paper. Name the"
            " paper's PDF, HTML or text."
        )
    return text


def _count_letters(text: str) -> int:
    return sum(character.isalnum() for character in text)


def _read_pdf(path: Path) -> str:
    from pypdf import PdfReader

    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise UserError(f"{path}: the PDF is encrypted. Save a copy without a password.")
        pages = [page.extract_text() for page in reader.pages]
    except UserError:
        raise
    except Exception as error:
        # A damaged PDF raises errors of many kinds inside the library.
        raise UserError(
            f"{path}: not a readable PDF ({type(error).__name__}: {error}). Download it again, or"
            " give the paper as HTML or text."
        ) from None
    text = _join_pages(pages)
    if _count_letters(text) < _MIN_LETTERS:
        raise UserError(
            f"{path}: the PDF has no text ({len(pages)} pages, {_count_letters(text)} letters), "
            "as in a scan. Give a PDF with text, or the paper as HTML or text."
        )
    return text


def _join_pages(pages: list[str]) -> str:
    """Join pages without page numbers and running heads, which may interrupt a passage."""
    lines_by_page = [page.strip("\n").split("\n") for page in pages]
    if len(pages) < _REPEATED_PAGES:
        return "\n".join(pages)
    counts: Counter[str] = Counter()
    for lines in lines_by_page:
        counts.update({_shape(line) for line in lines[:_HEAD_LINES] + lines[-_HEAD_LINES:]})
    kept_pages = []
    for lines in lines_by_page:
        while lines and _is_running_head(lines[0], counts):
            lines.pop(0)
        while lines and _is_running_head(lines[-1], counts):
            lines.pop()
        kept_pages.append("\n".join(lines))
    return "\n".join(kept_pages)


def _shape(line: str) -> str:
    """Return a line with each number replaced.

    Running heads with page numbers then have one shape.
    """
    return re.sub(r"\d+", "0", line.strip())


def _is_running_head(line: str, counts: Counter[str]) -> bool:
    shape = _shape(line)
    return shape in ("", "0") or counts[shape] >= _REPEATED_PAGES


def _read_html(text: str) -> str:
    """Return the text of a page without its tags, scripts and styles."""
    return unescape(_TAG.sub("\n", _SKIPPED.sub("", text)))
