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
_BYTES_SEEN = 1000
_MIN_LETTERS, _LETTERS_SEEN = 4, 2000
_MIN_SHARE_OF_COMMON_LETTERS = 0.8
_MIN_SHARE_OF_LOW_BYTES = 0.1
_COMMON_LETTERS = {  # the bytes of the common characters of each encoding
    "GB18030 (Chinese)": re.compile(rb"[\xb0-\xd7][\xa1-\xfe]"),
    "BIG5 (Chinese)": re.compile(rb"[\xa4-\xc6][\x40-\x7e\xa1-\xfe]"),
    "CP932 (Japanese)": re.compile(
        rb"\x82[\x9f-\xf1]|\x83[\x40-\x96]|[\x88-\x97][\x40-\x7e\x80-\xfc]"
    ),
    "CP949 (Korean)": re.compile(rb"[\xb0-\xc8][\xa1-\xfe]"),
}
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
    if encoding == "utf-8-sig":
        content = content.rstrip(b"\x1a")  # the end mark of old editors
        _refuse_wide_encoding(path, content)
        encoding = "utf-16" if content.startswith(UTF16_MARKS) else encoding
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
            f" {encoding_name} and try again, such as `iconv -f ENCODING -t UTF-8 FILE > NEW`;"
            f" ENCODING is {_likely_encodings(content)}."
        ) from fault
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(
            f"{path}: line {line}: a zero byte; expected a text file (is it compressed?)."
            f" {describe_remedy(get)}"
        )
    return text.lstrip("\ufeff")


def _refuse_wide_encoding(path: Path, content: bytes) -> None:
    """Refuse UTF-16 without its mark, and UTF-32: text with a zero byte in each character."""
    start = content[:_BYTES_SEEN]
    is_utf32 = start.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff"))
    if not is_utf32 and (start.startswith(UTF16_MARKS) or start.count(0) * 4 < len(start)):
        return
    little_endian = start[1::2].count(0) >= start[::2].count(0)
    name = "UTF-32" if is_utf32 else f"UTF-16{'LE' if little_endian else 'BE'}"
    raise UserError(
        f"{path}: line 1: text in {name}; expected UTF-8. Save the file as UTF-8, such as"
        f" `iconv -f {name} -t UTF-8 FILE > NEW`."
    )


def _likely_encodings(content: bytes) -> str:
    """Return the encodings of East Asia that the bytes of a text suggest; without one, the words
    for any encoding.
    """
    names = [name for name in _COMMON_LETTERS if _is_likely_encoding(content, name)]
    return " or ".join(names) or (
        "the encoding in which it was saved, such as WINDOWS-1252 for Western Europe"
    )


def _is_likely_encoding(content: bytes, name: str) -> bool:
    """Return whether a text can be decoded, and most of its letters are common Han, kana or Hangul.

    An alphabet in one byte (Cyrillic, Arabic, Greek) may decode, too, but has hardly any byte from
    0x80 to 0xbf.
    """
    encoding = name.partition(" ")[0]
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return False
    letters = [char for char in text if char > "\x7f" and char.isalpha()][:_LETTERS_SEEN]
    if len(letters) < _MIN_LETTERS:
        return False
    codes = [letter.encode(encoding) for letter in letters]
    common_count = sum(bool(_COMMON_LETTERS[name].fullmatch(code)) for code in codes)
    high_bytes = [byte for byte in b"".join(codes) if byte >= 0x80]
    low_count = sum(byte < 0xC0 for byte in high_bytes)
    has_low_bytes = low_count > _MIN_SHARE_OF_LOW_BYTES * len(high_bytes)
    return has_low_bytes and common_count >= _MIN_SHARE_OF_COMMON_LETTERS * len(letters)


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
