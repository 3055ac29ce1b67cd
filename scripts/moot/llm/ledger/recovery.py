"""What can be read of a damaged SQLite ledger: its pages are searched for whole rows, whatever else
is broken.

SQLite itself stops at the first page that it cannot read, and the `sqlite3` of some distributions
has no `.recover`. Every entry found is checked: the request by its key, which is its digest, the
reply by the checksum of its compression. The format of the file:
https://sqlite.org/fileformat2.html.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from moot.llm.ledger.database import DamagedError
from moot.llm.ledger.ledger import Entry
from moot.llm.ledger.packing import decompress
from moot.llm.request import Reply, call_id

_PAGE = 4096
"""SQLite's own default, with which every ledger is made."""
_LOG_HEADER, _FRAME_HEADER, _FILE_HEADER = 32, 24, 100
_LEAF = 13
"""The first byte of a page with rows of a table."""
_LARGEST_LOCAL, _SMALLEST_LOCAL = _PAGE - 35, (_PAGE - 12) * 32 // 255 - 23
"""Bytes of a row that its page holds: all up to the first number, else at least the second."""
_INTEGER_BYTES = (0, 1, 2, 3, 4, 6, 8)
_REAL, _ZERO, _ONE, _BLOB = 7, 8, 9, 12
Value = int | bytes | None


def recover_entries(file: Path) -> Iterator[Entry]:
    """The entries of a damaged ledger whose request and reply are whole; the file is only read.

    Failures, what attempts without a usable reply took, and batches under way are not among them.
    """
    pieces: dict[int, str] = {}
    calls: list[tuple[bytes, bytes, bytes, int, bytes]] = []
    for number, row in _rows(_pages(file)):
        match row:
            case [None, bytes(), bytes(text)]:
                with suppress(DamagedError):
                    pieces[number] = decompress(text)
            case [bytes(key), bytes(model), bytes(request), int(replicate), bytes(reply), int(), _]:
                calls.append((key, model, request, replicate, reply))
    for key, model, request, replicate, reply in calls:
        with suppress(DamagedError, ValueError, KeyError, TypeError):
            asked = "".join(pieces[number] for number in json.loads(decompress(request)))
            if call_id(asked, replicate) == key.hex():
                yield Entry(
                    key.hex(), model.decode(), asked, replicate, Reply.from_json(decompress(reply))
                )


def _pages(file: Path) -> dict[int, bytes]:
    """The pages of a database by number, from 1; those that the log beside it holds are newer."""
    content = file.read_bytes()
    pages = {
        start // _PAGE + 1: content[start : start + _PAGE]
        for start in range(0, len(content), _PAGE)
    }
    log = Path(f"{file}-wal")
    logged = log.read_bytes() if log.exists() else b""
    written: dict[int, bytes] = {}
    for start in range(_LOG_HEADER, len(logged) - _FRAME_HEADER - _PAGE + 1, _FRAME_HEADER + _PAGE):
        page = start + _FRAME_HEADER
        if logged[start + 8 : start + 16] != logged[16:24]:  # of an earlier use of the log
            break
        written[int.from_bytes(logged[start : start + 4])] = logged[page : page + _PAGE]
        if int.from_bytes(logged[start + 4 : start + 8]):  # the last frame of a transaction
            pages |= written
            written = {}
    return pages


def _rows(pages: dict[int, bytes]) -> Iterator[tuple[int, list[Value]]]:
    """The rows on pages that look like those of a table: row number, and values; a text as its
    bytes.
    """
    for number, page in pages.items():
        head = _FILE_HEADER if number == 1 else 0
        if page[head : head + 1] != bytes([_LEAF]):
            continue
        for nth in range(int.from_bytes(page[head + 3 : head + 5])):
            place = head + 8 + 2 * nth
            try:
                size, at = _integer(page, int.from_bytes(page[place : place + 2]))
                row_number, at = _integer(page, at)
                yield row_number, _values(_payload(pages, page, at, size))
            except (IndexError, KeyError, ValueError):
                continue


def _integer(content: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends."""
    value = 0
    for length in range(8):
        value = value << 7 | content[at + length] & 127
        if content[at + length] < 128:
            return value, at + length + 1
    return value << 8 | content[at + 8], at + 9


def _payload(pages: dict[int, bytes], page: bytes, at: int, size: int) -> bytes:
    """A row's bytes, which go on in a chain of further pages where they do not fit."""
    if size <= _LARGEST_LOCAL:
        return page[at : at + size]
    local = _SMALLEST_LOCAL + (size - _SMALLEST_LOCAL) % (_PAGE - 4)
    local = local if local <= _LARGEST_LOCAL else _SMALLEST_LOCAL
    parts, after = [page[at : at + local]], page[at + local : at + local + 4]
    for _ in range(-(-(size - local) // (_PAGE - 4))):
        further = pages[int.from_bytes(after)]
        parts.append(further[4:])
        after = further[:4]
    return b"".join(parts)[:size]


def _values(row: bytes) -> list[Value]:
    end, at = _integer(row, 0)
    kinds = []
    while at < end:
        kind, at = _integer(row, at)
        kinds.append(kind)
    values: list[Value] = []
    for kind in kinds:
        length = (
            _INTEGER_BYTES[kind]
            if kind < _REAL
            else 8
            if kind == _REAL
            else max(0, kind - _BLOB) // 2
        )
        part = row[at : at + length]
        if len(part) < length:
            raise ValueError("a row that is cut off")
        at += length
        if kind in (0, _REAL):  # no real number is needed
            values.append(None)
        elif kind < _BLOB:
            values.append(
                kind - _ZERO if kind in (_ZERO, _ONE) else int.from_bytes(part, signed=True)
            )
        else:
            values.append(part)
    return values
