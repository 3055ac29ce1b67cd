"""The ledger's record of a provider's batches and their calls, made before they are submitted."""

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
"""How long a call in a batch holds its part of the budget if this process dies: twice the
provider's window.
"""


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """A batch under way.

    Attributes:
        marker: its name in the ledger, which the provider keeps in the batch's metadata.
        batch_id: the provider's id; "" while it is not known whether it was submitted.
        created_at: when it was recorded, in seconds since 1970.
        calls: by id, the calls that have neither reply nor failure yet.
    """

    marker: str
    batch_id: str
    created_at: float
    calls: dict[str, Call]


class BatchRecords:
    """The batches of one model at one server."""

    def __init__(self, ledger: Ledger, config: ModelConfig) -> None:
        self._ledger, self._served_as, self._model = ledger, served_as(config), model_asked(config)

    def add(self, marker: str, lines: bytes, calls: Sequence[Call]) -> BatchRecord:
        """Record a batch that is about to be submitted."""
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
            self._delete_calls(connection, [call.call_id for call in calls])
            connection.execute(sa.insert(BATCHED_CALLS), rows)
        return BatchRecord(marker, "", created_at, {call.call_id: call for call in calls})

    def set_batch_id(self, marker: str, batch_id: str) -> None:
        """Record the provider's id of a batch."""
        with self._ledger.transaction() as connection:
            connection.execute(
                sa.update(BATCHES).where(BATCHES.c.marker == marker).values(batch_id=batch_id)
            )

    def delete(self, marker: str) -> None:
        """Delete the record of a batch that was never submitted."""
        with self._ledger.transaction() as connection:
            connection.execute(sa.delete(BATCHED_CALLS).where(BATCHED_CALLS.c.marker == marker))
            connection.execute(sa.delete(BATCHES).where(BATCHES.c.marker == marker))

    def delete_calls(self, call_ids: Sequence[str]) -> None:
        """Remove calls that came back without a reply from their batch."""
        with self._ledger.transaction() as connection:
            self._delete_calls(connection, call_ids)

    @staticmethod
    def _delete_calls(connection: sa.Connection, call_ids: Sequence[str]) -> None:
        for portion in portions(call_ids):
            is_in_portion = BATCHED_CALLS.c.call_id.in_(portion)
            connection.execute(sa.delete(BATCHED_CALLS).where(is_in_portion))

    def load_open(self) -> list[BatchRecord]:
        """Return the batches with calls that have neither reply nor failure yet, oldest first."""
        is_of_model = (BATCHES.c.served_as == self._served_as) & (BATCHES.c.model == self._model)
        query = (
            sa.select(
                BATCHES.c.marker,
                BATCHES.c.batch_id,
                BATCHES.c.created_at,
                BATCHED_CALLS.c.call_id,
                BATCHED_CALLS.c.request,
                BATCHED_CALLS.c.replicate,
            )
            .where(BATCHES.c.marker == BATCHED_CALLS.c.marker, is_of_model)
            .order_by(BATCHES.c.created_at)
        )
        records: dict[str, BatchRecord] = {}
        with self._ledger.transaction() as connection:
            for row in connection.execute(query):
                record = records.setdefault(
                    row.marker, BatchRecord(row.marker, row.batch_id, row.created_at, {})
                )
                request = Request.from_json(row.request)
                record.calls[row.call_id] = Call(row.call_id, request, row.request, row.replicate)
        return list(records.values())

    def load_batch_id(self, marker: str) -> str | None:
        """Return the recorded id of a batch; None if the record was deleted."""
        query = sa.select(BATCHES.c.batch_id).where(BATCHES.c.marker == marker)
        with self._ledger.transaction() as connection:
            batch_id: str | None = connection.scalar(query)
        return batch_id
