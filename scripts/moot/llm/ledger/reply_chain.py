"""The ledger's log: a chain of SHA-256 digests over its replies, which only grows.

A frozen plan or a bundle seals the log: each reply gets a place and keeps it. The last digest of
the chain, its head, depends on every sealed reply and on their order. Compared with a head that was
published earlier, it shows whether a reply was changed, removed or moved since.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from moot.core.errors import UserError
from moot.llm.ledger.compression import decompress
from moot.llm.ledger.ledger import Ledger
from moot.llm.ledger.tables import CALLS

_TABLES = sa.MetaData()
_LOG = sa.Table(
    "log",  # the place of each reply; made with the first seal
    _TABLES,
    sa.Column(
        "number",
        sa.BigInteger().with_variant(sa.Integer, "sqlite"),
        primary_key=True,
        autoincrement=True,
    ),
    sa.Column("call_id", sa.LargeBinary(32), unique=True, nullable=False),
)
_PORTION = 5000


@dataclass(frozen=True, slots=True)
class LogRow:
    """A reply in the log.

    Attributes:
        call_id: hexadecimal.
        content: call id, model, replicate and reply, as `row_content` writes them.
    """

    call_id: str
    content: str

    @property
    def digest(self) -> str:
        """The SHA-256 of the content, in hexadecimal."""
        return hashlib.sha256(self.content.encode()).hexdigest()


def row_content(call_id: str, model: str, replicate: int, reply: str) -> str:
    """Return the text that a row's digest is computed from, in ASCII.

    The call id stands for the request; `reply` is JSON as the ledger stores it.
    """
    return json.dumps([call_id, model, replicate, reply], separators=(",", ":"))


def seal(ledger: Ledger) -> None:
    """Append all replies that are not yet in the log, in the order of call ids.

    Raises:
        UserError: the ledger cannot be written.
    """
    if ledger.read_only:
        raise UserError(
            f"ledger {ledger.place}: it cannot be written, so its log cannot be sealed. Copy it to"
            " a folder of your own, and set `ledger` to that."
        )
    with ledger.transaction() as connection:
        _TABLES.create_all(connection)
        unsealed = sa.select(CALLS.c.call_id).where(
            CALLS.c.call_id.not_in(sa.select(_LOG.c.call_id))
        )
        connection.execute(
            sa.insert(_LOG).from_select(["call_id"], unsealed.order_by(CALLS.c.call_id))
        )


def read_log(ledger: Ledger) -> Iterator[LogRow]:
    """Yield the rows of a sealed ledger in the order of the log.

    Raises:
        UserError: a sealed reply is missing.
    """
    rows = (
        sa.select(_LOG.c.call_id, CALLS.c.model, CALLS.c.replicate, CALLS.c.reply)
        .join_from(_LOG, CALLS, _LOG.c.call_id == CALLS.c.call_id, isouter=True)
        .order_by(_LOG.c.number)
    )
    with ledger.transaction() as connection:
        streamed = connection.execution_options(yield_per=_PORTION)
        for key, model, replicate, reply in streamed.execute(rows):
            call_id = key.hex()
            if reply is None:
                raise UserError(
                    f"ledger {ledger.place}: the reply of call {call_id[:12]} was removed after the"
                    " log was sealed. Restore the ledger, or import the call again"
                    " (scripts/import_calls.py)."
                )
            yield LogRow(call_id, row_content(call_id, model, replicate, decompress(reply)))


def head_of(digests: Iterable[str]) -> dict[str, int | str]:
    """Return the head of a log: its number of `replies` and the last `digest` of the chain.

    Each digest of the chain is the SHA-256 of the digest before it and of the row's own.
    """
    chained, count = "", 0
    for digest in digests:
        chained = hashlib.sha256(f"{chained}{digest}".encode()).hexdigest()
        count += 1
    return {"replies": count, "digest": chained}
