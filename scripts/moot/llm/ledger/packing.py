"""How the ledger packs what it keeps: a paragraph that several requests share is stored once, and
all is compressed.

The prompts of a debate repeat most of each other: the case, what was said so far, instructions. A
request is split at the breaks between paragraphs; each piece has a number, under which it is stored
once, and the request is the list of its numbers. What is unpacked is the request as it was,
character by character.
"""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b

import sqlalchemy as sa

from moot.llm.ledger.database import AMONG, DamagedError, portions
from moot.llm.ledger.tables import PIECES, insert_new

_BREAK = r"\n\n"
"""The break between two paragraphs, in JSON as `Request.to_json` writes it."""
_LAST_MESSAGE = '"]],"'
_LEAST_CHARACTERS = 32
_DIGEST_BYTES = 16
_MOST_REMEMBERED = 200_000
_NUMBERS = sa.select(PIECES.c.digest, PIECES.c.number).where(PIECES.c.digest.in_(AMONG))
_TEXTS = sa.select(PIECES.c.number, PIECES.c.text).where(PIECES.c.number.in_(AMONG))
_USUAL = (
    b'{"text":"","reasoning":"","logprobs":{"YES":-0."NO":-},"unlisted_logprob":null,"finish_reason":"stop",'
    b'"prompt_tokens":1,"completion_tokens":1,"cached_tokens":0,"seconds":1.,"attempts":1,"cost_usd":0.0,'
    b'"created_at":"2026-01-01T00:00:00+00:00","served_model":"","provider":"","system_fingerprint":"fp_",'
    b'"service_tier":"default","response_id":"chatcmpl-","reasoning_tokens":0,"started_at":"2026-01-01T00:00:00.000'
    b'+00:00","ended_at":"2026-01-01T00:00:00.000+00:00","unusable_tokens":0,"unusable_usd":0.0}'
)
"""What replies have in common. Part of the format of stored ledgers: it must never change."""


def compress(text: str) -> bytes:
    """A text's bytes, compressed; unpaired surrogates pass."""
    packer = zlib.compressobj(zdict=_USUAL)
    return packer.compress(text.encode("utf-8", "surrogatepass")) + packer.flush()


def decompress(packed: bytes) -> str:
    """The text that `compress` packed.

    Raises:
        DamagedError: it packed something else.
    """
    try:
        return zlib.decompressobj(zdict=_USUAL).decompress(packed).decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError) as error:
        raise DamagedError(f"malformed: {error}") from None


def split(request: str) -> list[str]:
    """The pieces of a request, which joined give the request; short ones stay with the one before."""
    messages, end, rest = request.rpartition(_LAST_MESSAGE)
    *paragraphs, last = messages.split(_BREAK)
    pieces: list[str] = []
    for part in (*(paragraph + _BREAK for paragraph in paragraphs), last + end, rest):
        if pieces and len(part) < _LEAST_CHARACTERS:
            pieces[-1] += part
        else:
            pieces.append(part)
    return pieces


class Packer:
    """Packs requests into the numbers of their pieces, and unpacks them; remembers pieces that it
    has seen.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._new_piece = insert_new(engine, PIECES)
        self._numbers: dict[bytes, int] = {}

    @contextmanager
    def undone_on_error(self) -> Iterator[None]:
        """Forget what was seen if the transaction inside fails: its pieces may not stand in the
        database.
        """
        try:
            yield
        except BaseException:
            self._numbers.clear()
            raise

    def pack(self, connection: sa.Connection, requests: Sequence[str]) -> list[bytes]:
        """Store the pieces that are new, and give each request as the ledger keeps it."""
        digested = [[(_digest(piece), piece) for piece in split(request)] for request in requests]
        seen = self._numbers
        self._store(
            connection,
            {digest: piece for one in digested for digest, piece in one if digest not in seen},
        )
        packed = [
            compress(json.dumps([seen[digest] for digest, _ in one], separators=(",", ":")))
            for one in digested
        ]
        if len(self._numbers) > _MOST_REMEMBERED:
            self._numbers.clear()
        return packed

    def _store(self, connection: sa.Connection, texts: Mapping[bytes, str]) -> None:
        """Every process stores pieces in one order, so that two that store the same ones never wait
        for each other.
        """
        if not texts:
            return
        rows = [
            {"digest": digest, "text": compress(text)} for digest, text in sorted(texts.items())
        ]
        connection.execute(self._new_piece, rows)
        for digests in portions(texts):
            found = connection.execute(_NUMBERS, {"among": digests})
            self._numbers.update((bytes(digest), number) for digest, number in found)

    @staticmethod
    def unpack(connection: sa.Connection, requests: Sequence[bytes]) -> list[str]:
        """Requests as they were."""
        numbers = [json.loads(decompress(request)) for request in requests]
        texts: dict[int, str] = {}
        needed = {number for request in numbers for number in request}
        for some in portions(needed):
            found = connection.execute(_TEXTS, {"among": some})
            texts.update((number, decompress(text)) for number, text in found)
        if missing := needed - set(texts):
            raise DamagedError(f"malformed: piece {min(missing)} of a request is missing")
        return ["".join(texts[number] for number in request) for request in numbers]


def _digest(piece: str) -> bytes:
    return blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
