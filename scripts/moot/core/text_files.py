"""Text files of users: read as a whole, or refused with the reason if they are not text."""

import gzip
import os
import re
import stat
import zlib
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import UserError
from moot.core.log import warn_of_file

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

UNICODE = "utf-8-sig"
GZIP = ".gz"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
MAX_FILE_BYTES = 2**31
"""Maximum size of a file that is read into memory as a whole."""
_MAX_QUOTED_CHARS = 60
_LIKELY_ENCODINGS = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r"),
    *("gb18030", "big5", "cp932", "euc_jp", "cp949", "utf_16_le", "utf_16_be", "mac_roman"),
]
"""The most likely one first. Without this list charset_normalizer takes German in cp1252 for an
encoding of DOS."""


def read_text(path: Path, *, encoding: str = "", get: str = "") -> str:
    """Return the text of a file, unpacked if its name ends in .gz.

    Args:
        path: the file.
        encoding: of the text. Default: UTF-8, else the best guess, which is logged.
        get: how to obtain the file, for the message if it is missing or damaged.

    Raises:
        UserError: the file does not exist, is empty, is not text, or has another encoding.
    """
    content = read_content(path, get)
    if not content.strip():
        raise UserError(f"{path}: the file is empty; expected data. {describe_remedy(get)}")
    text = _decode(path, content, encoding)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(
            f"{path}: line {line}: a zero byte; expected a text file. {describe_remedy(get)}"
        )
    return text.lstrip("\ufeff")


def read_content(path: Path, get: str = "") -> bytes:
    """Return the bytes of a file, unpacked if its name ends in .gz.

    Raises:
        UserError: the file does not exist, cannot be read, or is too large.
    """
    try:
        with path.open("rb") as stream:
            check_size(path, os.fstat(stream.fileno()))
            content = stream.read()
        if path.suffix.casefold() != GZIP:
            return content
        with gzip.open(BytesIO(content)) as packed:
            unpacked = packed.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError as fault:
        remedy = get or "put the file there, or set data_root in the configuration to its folder."
        raise UserError(f"{path}: no such file; {remedy}") from fault
    except (OSError, EOFError, zlib.error) as fault:
        raise UserError(f"{path}: cannot be read ({fault}); expected a readable file.") from fault
    _check_bytes(path, len(unpacked))
    return unpacked


def _decode(path: Path, content: bytes, encoding: str) -> str:
    """Return the text of bytes."""
    likely_encoding = "utf-16" if content.startswith(_UTF16_MARKS) else UNICODE
    try:
        return content.decode(encoding or likely_encoding)
    except LookupError:
        raise UserError(
            f"{path}: unknown encoding {quote_value(encoding)}; expected one that Python knows,"
            " such as utf-8, latin-1 or gb18030. Correct `encoding` in the configuration."
        ) from None
    except UnicodeDecodeError as fault:
        line = content.count(b"\n", 0, fault.start) + 1
        place = f"{path}: line {line}: byte 0x{content[fault.start]:02x}"
        if not encoding and _is_damaged(content):
            raise UserError(
                f"{place} is not UTF-8, as the rest of the file is. Write its words again, or get"
                " the file again."
            ) from fault
        guess = None if encoding else _guess_text(content)
        if guess is None:
            name = (encoding or likely_encoding).removesuffix("-sig").upper()
            raise UserError(
                f"{place} is not {name}; expected a text file in {name}. Save it as UTF-8."
            ) from fault
        warn_of_file(
            f"{place} is not UTF-8; the file is read as {guess.encoding}, the best guess. Save it"
            " as UTF-8 if words look wrong."
        )
        return str(guess)


def _is_damaged(content: bytes) -> bool:
    """Return whether bytes are UTF-8 but for some that were cut off or joined to them.

    A text in another encoding has hardly a character that UTF-8 could have.
    """
    text = content.decode(errors="surrogateescape")
    broken = len(re.findall("[\udc80-\udcff]", text))
    return len(re.findall("[^\x00-\x7f]", text)) > 2 * broken


def _guess_text(content: bytes) -> "CharsetMatch | None":
    from charset_normalizer import from_bytes  # rarely needed

    matches = list(from_bytes(content, cp_isolation=_LIKELY_ENCODINGS))
    # of equally good guesses its first is the first by name, cp1250 for French
    best = [match for match in matches if _quality(match) == _quality(matches[0])]
    likely = [match for match in best if match.encoding in _LIKELY_ENCODINGS]
    return min(likely, key=lambda match: _LIKELY_ENCODINGS.index(match.encoding), default=None)


def _quality(match: "CharsetMatch") -> tuple[float, float]:
    return match.chaos, match.coherence


def check_size(path: Path, file: os.stat_result) -> None:
    """Require a regular file that can be read into memory as a whole."""
    if not stat.S_ISREG(file.st_mode):
        raise UserError(f"{path}: cannot be read (not a regular file); expected a readable file.")
    _check_bytes(path, file.st_size)


def _check_bytes(path: Path, count: int) -> None:
    if count > MAX_FILE_BYTES:
        raise UserError(
            f"{path}: {count} bytes; expected {MAX_FILE_BYTES} at most. Keep the rows and"
            " columns that are needed."
        )


def check_characters(place: str, text: str) -> None:
    """Require that a text has no unpaired surrogate (JSON's \\ud800), which cannot be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError as fault:
        raise UserError(
            f"{place}: found {quote_value(text[fault.start])}, an unpaired surrogate; expected "
            "text. Remove it, or write the whole character."
        ) from None


def quote_value(value: object) -> str:
    """Return a value for a message: quoted, escaped, short and on one line."""
    text = (
        repr(value)
        if isinstance(value, str)
        else str(value).encode("unicode_escape").decode("ascii")
    )
    return text if len(text) <= _MAX_QUOTED_CHARS else f"{text[:_MAX_QUOTED_CHARS]}..."


def describe_remedy(get: str) -> str:
    """Return a sentence on how to obtain a file; by default, to correct it or get it again."""
    return get[:1].upper() + get[1:] if get else "Correct it, or get the file again."
