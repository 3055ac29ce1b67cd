"""Text files of users: read as a whole, or refused with the reason if they are not text."""

import os
import re
import stat
from pathlib import Path

from moot.core.errors import UserError

_BINARY_SIGNATURES = {  # the first bytes of files that look like tables to people but are not
    b"PK\x03\x04": "a zip archive, or an Excel or OpenDocument file (these are zip archives too)",
    b"\x1f\x8b": "compressed by gzip",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ\x00": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"PAR1": "a Parquet file",
}
_OTHER_CONTENTS = {
    re.compile(rb"\s*<(?:!doctype html|html)\b", re.IGNORECASE): "a web page",
    re.compile(rb"version https://git-lfs\.github\.com/"): "a pointer of Git LFS, not the file",
}
"""Contents that a failed download may leave instead of a file."""
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
MAX_FILE_BYTES = 2**31
"""Maximum size of a file that is read into memory as a whole."""
_MAX_QUOTED_CHARS = 60


def read_text(path: Path, *, encoding: str = "utf-8-sig", get: str = "") -> str:
    """Return the text of a file.

    It must exist, be text in `encoding`, and not be empty; errors are as in `read_csv`.
    """
    try:
        with path.open("rb") as stream:
            check_size(path, os.fstat(stream.fileno()))
            content = stream.read()
    except FileNotFoundError as fault:
        remedy = get or "put the file there, or set data_root in the configuration to its folder."
        raise UserError(f"{path}: no such file; {remedy}") from fault
    except OSError as fault:
        raise UserError(
            f"{path}: cannot be read ({fault.strerror}); expected a readable file."
        ) from fault
    if not content.strip():
        raise UserError(f"{path}: the file is empty; expected data. {describe_remedy(get)}")
    _refuse_other_contents(path, content)
    if encoding == "utf-8-sig" and content.startswith(UTF16_MARKS):
        encoding = "utf-16"
    try:
        text = content.decode(encoding)
    except LookupError:
        raise UserError(
            f"{path}: unknown encoding {quote_value(encoding)}; expected one that Python knows,"
            " such as"
            " utf-8, latin-1 or gb18030. Correct `encoding` in the configuration."
        ) from None
    except UnicodeDecodeError as fault:
        line = content.count(b"\n", 0, fault.start) + 1
        encoding_name = encoding.removesuffix("-sig").upper()
        raise UserError(
            f"{path}: line {line}: byte 0x{content[fault.start]:02x} at offset {fault.start} is not"
            f" {encoding_name}; expected a text file in {encoding_name}. Save the file as"
            f" {encoding_name} and try again (such as `iconv -f WINDOWS-1252 -t UTF-8 FILE >"
            " NEW`, if it is from Windows)."
        ) from fault
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(
            f"{path}: line {line}: a zero byte; expected a text file (is it compressed?)."
            f" {describe_remedy(get)}"
        )
    return text


def _refuse_other_contents(path: Path, content: bytes) -> None:
    """Refuse a packed file, and contents that a failed download leaves instead of a file."""
    for start, kind in _BINARY_SIGNATURES.items():
        if content.startswith(start):
            raise UserError(
                f"{path}: {kind}; expected a text file. Unpack or export it, and name the file"
                " inside."
            )
    for pattern, kind in _OTHER_CONTENTS.items():
        if pattern.match(content):
            raise UserError(
                f"{path}: {kind}; expected data. Download the file itself, and name it here."
            )


def check_size(path: Path, file: os.stat_result) -> None:
    """Require a regular file that can be read into memory as a whole."""
    if not stat.S_ISREG(file.st_mode):
        raise UserError(f"{path}: cannot be read (not a regular file); expected a readable file.")
    if file.st_size > MAX_FILE_BYTES:
        raise UserError(
            f"{path}: {file.st_size} bytes; expected {MAX_FILE_BYTES} at most. Keep the rows and"
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
    """Return a value for a message: quoted, short and on one line, since its content is
    arbitrary.
    """
    text = (
        repr(value)
        if isinstance(value, str)
        else str(value).encode("unicode_escape").decode("ascii")
    )
    return text if len(text) <= _MAX_QUOTED_CHARS else f"{text[:_MAX_QUOTED_CHARS]}..."


def describe_remedy(get: str) -> str:
    """Return a sentence on how to obtain a file; by default, to get it again."""
    return get[:1].upper() + get[1:] if get else "Get the file again from its source."
