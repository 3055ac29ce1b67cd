"""The ledger's record of a provider's batches: which calls went into which, written down before they are submitted."""

import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import sqlalchemy as sa

from moot.core.model_config import ModelConfig
from moot.llm.batches.waves import Call
from moot.llm.ledger.ledger import Ledger
from moot.llm.ledger.tables import BATCHED_CALLS, BATCHES
from moot.llm.request import Request

_AT_ONCE = 500
RESERVED_SECONDS = 2 * 86_400.0
"""How long a call in a batch keeps its part of the budget, should this process die: twice the provider's window."""


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """A batch under way.

    Attributes:
        marker: its name in the ledger, which the provider keeps in the batch's metadata.
        batch_id: the provider's id; "" while it is not known whether it was submitted.
        created_at: when it was written down, seconds since 1970.
        calls: those that have neither reply nor failure yet, by id.
    """

    marker: str
    batch_id: str
    created_at: float
    calls: dict[str, Call]


class BatchRecords:
    """The batches of one model at one server.

    Args:
        ledger: the ledger.
        served_as, model: the server's identity and the model's name in requests.
    """

    def __init__(self, ledger: Ledger, served_as: str, model: str) -> None:
        self._ledger, self._served_as, self._model = ledger, served_as, model

    def begin(self, marker: str, lines: bytes, calls: Sequence[Call]) -> BatchRecord:
        """Write down a batch that is about to be submitted."""
        created_at = time.time()
        batch = {
            "marker": marker,
            "digest": hashlib.sha256(lines).hexdigest(),
            "batch_id": "",
            "created_at": created_at,
        }
        rows = [
            {"call_id": call.call_id, "marker": marker, "request": call.content, "replicate": call.replicate}
            for call in calls
        ]
        with self._ledger.transaction() as connection:
            connection.execute(sa.insert(BATCHES), {**batch, "served_as": self._served_as, "model": self._model})
            self._delete(connection, [call.call_id for call in calls])
            connection.execute(sa.insert(BATCHED_CALLS), rows)
        return BatchRecord(marker, "", created_at, {call.call_id: call for call in calls})

    def submitted(self, marker: str, batch_id: str) -> None:
        """Write down the provider's id of a batch."""
        with self._ledger.transaction() as connection:
            connection.execute(sa.update(BATCHES).where(BATCHES.c.marker == marker).values(batch_id=batch_id))

    def forget(self, marker: str) -> None:
        """Take a batch back that was never submitted."""
        with self._ledger.transaction() as connection:
            connection.execute(sa.delete(BATCHED_CALLS).where(BATCHED_CALLS.c.marker == marker))
            connection.execute(sa.delete(BATCHES).where(BATCHES.c.marker == marker))

    def drop(self, call_ids: Sequence[str]) -> None:
        """Take calls out of their batch that came back without a reply."""
        with self._ledger.transaction() as connection:
            self._delete(connection, call_ids)

    @staticmethod
    def _delete(connection: sa.Connection, call_ids: Sequence[str]) -> None:
        for start in range(0, len(call_ids), _AT_ONCE):
            some = call_ids[start : start + _AT_ONCE]
            connection.execute(sa.delete(BATCHED_CALLS).where(BATCHED_CALLS.c.call_id.in_(some)))

    def open(self) -> list[BatchRecord]:
        """The batches of which some calls have neither reply nor failure yet, oldest first."""
        mine = (BATCHES.c.served_as == self._served_as) & (BATCHES.c.model == self._model)
        columns = (BATCHES.c.marker, BATCHES.c.batch_id, BATCHES.c.created_at)
        calls = (BATCHED_CALLS.c.call_id, BATCHED_CALLS.c.request, BATCHED_CALLS.c.replicate)
        query = sa.select(*columns, *calls).where(BATCHES.c.marker == BATCHED_CALLS.c.marker, mine)
        found: dict[str, BatchRecord] = {}
        with self._ledger.transaction() as connection:
            for marker, batch_id, created_at, *row in connection.execute(query.order_by(BATCHES.c.created_at)):
                call_id, content, replicate = row
                call = Call(call_id, Request.from_json(content), content, replicate)
                found.setdefault(marker, BatchRecord(marker, batch_id, created_at, {})).calls[call_id] = call
        return list(found.values())

    def batch_id(self, marker: str) -> str | None:
        """The provider's id of a batch as written down now; None where the batch was taken back."""
        with self._ledger.transaction() as connection:
            found: str | None = connection.scalar(sa.select(BATCHES.c.batch_id).where(BATCHES.c.marker == marker))
        return found


@dataclass(frozen=True, slots=True)
class BatchedModel:
    """What batches of a model need.

    Attributes:
        name, config: the model in the configuration.
        records: the ledger's record of its batches.
        claim: keeps other processes from submitting the same batch, by its marker.
        ask: answers a call and stores its reply, as for single calls.
    """

    name: str
    config: ModelConfig
    records: BatchRecords
    claim: Callable[[str], AbstractAsyncContextManager[None]]
    ask: Callable[[Request, int], Awaitable[object]]
