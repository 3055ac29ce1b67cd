"""The ledger's record of a provider's batches: which calls went into which, written down before
they are submitted.
"""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from moot.core.model_config import ModelConfig
from moot.llm.batches.waves import Call
from moot.llm.identity import model_asked, served_as
from moot.llm.ledger.database import portions
from moot.llm.ledger.ledger import Ledger
from moot.llm.ledger.tables import BATCHED_CALLS, BATCHES
from moot.llm.request import Request

RESERVED_SECONDS = 2 * 86_400.0
"""How long a call in a batch keeps its part of the budget, should this process die: twice the
provider's window.
"""


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
    """The batches of one model at one server."""

    def __init__(self, ledger: Ledger, config: ModelConfig) -> None:
        self._ledger, self._served_as, self._model = ledger, served_as(config), model_asked(config)

    def begin(self, marker: str, lines: bytes, calls: Sequence[Call]) -> BatchRecord:
        """Write down a batch that is about to be submitted."""
        created_at = time.time()
        batch = {
            "marker": marker,
            "served_as": self._served_as,
            "model": self._model,
            "digest": hashlib.sha256(lines).hexdigest(),
            "batch_id": "",
            "created_at": created_at,
        }
        rows = [
            {
                "call_id": call.call_id,
                "marker": marker,
                "request": call.content,
                "replicate": call.replicate,
            }
            for call in calls
        ]
        with self._ledger.transaction() as connection:
            connection.execute(sa.insert(BATCHES), batch)
            self._delete(connection, [call.call_id for call in calls])
            connection.execute(sa.insert(BATCHED_CALLS), rows)
        return BatchRecord(marker, "", created_at, {call.call_id: call for call in calls})

    def submitted(self, marker: str, batch_id: str) -> None:
        """Write down the provider's id of a batch."""
        with self._ledger.transaction() as connection:
            connection.execute(
                sa.update(BATCHES).where(BATCHES.c.marker == marker).values(batch_id=batch_id)
            )

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
        for some in portions(call_ids):
            connection.execute(sa.delete(BATCHED_CALLS).where(BATCHED_CALLS.c.call_id.in_(some)))

    def open(self) -> list[BatchRecord]:
        """The batches of which some calls have neither reply nor failure yet, oldest first."""
        mine = (BATCHES.c.served_as == self._served_as) & (BATCHES.c.model == self._model)
        columns = (BATCHES.c.marker, BATCHES.c.batch_id, BATCHES.c.created_at)
        calls = (BATCHED_CALLS.c.call_id, BATCHED_CALLS.c.request, BATCHED_CALLS.c.replicate)
        query = sa.select(*columns, *calls).where(BATCHES.c.marker == BATCHED_CALLS.c.marker, mine)
        found: dict[str, BatchRecord] = {}
        with self._ledger.transaction() as connection:
            for marker, batch_id, created_at, *row in connection.execute(
                query.order_by(BATCHES.c.created_at)
            ):
                call_id, content, replicate = row
                call = Call(call_id, Request.from_json(content), content, replicate)
                found.setdefault(marker, BatchRecord(marker, batch_id, created_at, {})).calls[
                    call_id
                ] = call
        return list(found.values())

    def batch_id(self, marker: str) -> str | None:
        """The provider's id of a batch as written down now; None where the batch was taken back."""
        with self._ledger.transaction() as connection:
            found: str | None = connection.scalar(
                sa.select(BATCHES.c.batch_id).where(BATCHES.c.marker == marker)
            )
        return found
