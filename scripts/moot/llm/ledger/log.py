"""The ledger's log: each reply is a leaf of a Merkle tree that only grows, as certificates are
logged (RFC 6962).

A reply gets its place when the log is sealed, by a frozen plan or a bundle, and keeps it. The root
of the tree commits to every sealed reply and to their order: against a root that was published
earlier, each reply that was changed, removed, moved or cut off since is found. Leaves are salted,
so that a short answer cannot be guessed from its leaf.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from moot.core.errors import UserError
from moot.llm.ledger.compression import decompress
from moot.llm.ledger.ledger import Ledger
from moot.llm.ledger.tables import CALLS, META

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
_KEY = "log_key"
_AT_ONCE = 5000


@dataclass(frozen=True, slots=True)
class Leaf:
    """A reply in the log.

    Attributes:
        call_id: hexadecimal.
        salt: 32 bytes, made from a key that only the ledger holds.
        content: what the leaf commits to: call id, model, replicate and reply, as `leaf_content`
            writes them.
    """

    call_id: str
    salt: bytes
    content: str

    @property
    def digest(self) -> bytes:
        """The leaf's hash (RFC 6962, 2.1)."""
        return hashlib.sha256(b"\0" + self.salt + self.content.encode()).digest()


def leaf_content(call_id: str, model: str, replicate: int, reply: str) -> str:
    """What a leaf commits to, in ASCII; the call id stands for the request, `reply` is JSON as the
    ledger keeps it.
    """
    return json.dumps([call_id, model, replicate, reply], separators=(",", ":"))


def seal(ledger: Ledger) -> None:
    """Give every reply a place in the log that has none yet, in the order of call ids.

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
        if connection.scalar(sa.select(META.c.value).where(META.c.name == _KEY)) is None:
            connection.execute(sa.insert(META), {"name": _KEY, "value": secrets.token_hex(32)})
        unsealed = sa.select(CALLS.c.call_id).where(
            CALLS.c.call_id.not_in(sa.select(_LOG.c.call_id))
        )
        connection.execute(
            sa.insert(_LOG).from_select(["call_id"], unsealed.order_by(CALLS.c.call_id))
        )


def read_log(ledger: Ledger) -> Iterator[Leaf]:
    """The leaves of a sealed ledger in their order.

    Raises:
        UserError: a reply is missing that was sealed.
    """
    rows = sa.select(_LOG.c.call_id, CALLS.c.model, CALLS.c.replicate, CALLS.c.reply)
    rows = rows.join_from(_LOG, CALLS, _LOG.c.call_id == CALLS.c.call_id, isouter=True).order_by(
        _LOG.c.number
    )
    with ledger.transaction() as connection:
        key = bytes.fromhex(
            connection.execute(sa.select(META.c.value).where(META.c.name == _KEY)).scalar_one()
        )
        for call_id, model, replicate, reply in connection.execution_options(
            yield_per=_AT_ONCE
        ).execute(rows):
            name = call_id.hex()
            if reply is None:
                raise UserError(
                    f"ledger {ledger.place}: the reply of call {name[:12]} was removed after the"
                    " log was sealed. Restore the ledger, or put the call back"
                    " (scripts/import_calls.py)."
                )
            salt = hmac.digest(key, call_id, "sha256")
            yield Leaf(name, salt, leaf_content(name, model, replicate, decompress(reply)))


def head_of(leaves: Sequence[bytes]) -> dict[str, int | str]:
    """The head of a log: `replies`, how many hashed leaves it has, and the `root` of their tree in
    hexadecimal.

        The tree of RFC 6962, 2.1: pairs from the left, level by level, where a last one without a
            pair moves up.
    """
    level = list(leaves)
    while len(level) > 1:
        pairs = [level[place : place + 2] for place in range(0, len(level), 2)]
        level = [
            hashlib.sha256(b"\1" + b"".join(pair)).digest() if len(pair) > 1 else pair[0]
            for pair in pairs
        ]
    root = level[0] if level else hashlib.sha256(b"").digest()
    return {"replies": len(leaves), "root": root.hex()}
