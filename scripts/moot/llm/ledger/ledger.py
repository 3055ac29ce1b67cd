"""The ledger: stores every reply durably before a protocol sees it.

A reply's key is a digest of the request, the model's address and the replicate. SQLite serves one
machine, PostgreSQL several. Reads, writes and reservations of one event loop are batched, so that
one commit makes many replies durable.
"""

import asyncio
import time
import zlib
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from moot.core.errors import CallFailedError, LogprobsUnavailableError, RunStoppedError, UserError
from moot.core.types import JsonObject
from moot.llm.ledger.batching import Batched
from moot.llm.ledger.call_locks import call_locks, no_lock
from moot.llm.ledger.database import (
    AMONG,
    DamagedError,
    explain_errors,
    folder_of,
    open_engine,
    open_read_only,
    portions,
    read_only_file,
)
from moot.llm.ledger.reservations import Reservation, Totals, find_limit_error
from moot.llm.ledger.tables import (
    ATTEMPTS,
    CALLS,
    FAILURES,
    META,
    PENDING_TABLES,
    REFUSALS,
    RESERVATIONS,
    TABLES,
    TOTALS,
    insert_new,
)
from moot.llm.request import Reply

Failure = CallFailedError | LogprobsUnavailableError
VERSION = 4
"""Version of the ledger's format. A ledger of another version is refused."""
# Statements that run often are built once: building one takes as long as running it.
_REPLY_COLUMNS = (CALLS.c.call_id, CALLS.c.model, CALLS.c.replicate, CALLS.c.reply)
_ENTRIES = sa.select(*_REPLY_COLUMNS, CALLS.c.request).where(CALLS.c.call_id.in_(AMONG))
_REPLIES = sa.select(*_REPLY_COLUMNS).where(CALLS.c.call_id.in_(AMONG))
_UNDER_WAY = (FAILURES, REFUSALS, *PENDING_TABLES)
_ANY_UNDER_WAY = sa.select(*(sa.select(table.c.call_id).exists() for table in _UNDER_WAY))
_DELETE_UNDER_WAY = [sa.delete(table).where(table.c.call_id.in_(AMONG)) for table in _UNDER_WAY]
_ADD_TO_TOTALS = sa.update(TOTALS).values(
    calls=TOTALS.c.calls + sa.bindparam("more_calls"),
    tokens=TOTALS.c.tokens + sa.bindparam("more_tokens"),
    cost_usd=TOTALS.c.cost_usd + sa.bindparam("more_usd"),
)
_SPENT = sa.select(TOTALS.c.calls, TOTALS.c.tokens, TOTALS.c.cost_usd)
_RESERVED = sa.select(
    sa.func.count(), sa.func.sum(RESERVATIONS.c.tokens), sa.func.sum(RESERVATIONS.c.cost_usd)
)
_VERSION = sa.select(META.c.value).where(META.c.name == "version")
_CREATION_LOCK = 6_061_984
_PAUSE = 0.0015
"""Seconds; about the duration of a commit."""
_WASTED_USD = sa.select(sa.func.sum(ATTEMPTS.c.cost_usd))


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the ledger; `model` is the model's name in the configuration of the run."""

    call_id: str
    model: str
    request: str
    replicate: int
    reply: Reply


class Ledger:
    """Replies by call id. One object per process; several processes can share a ledger.

    Args:
        ledger: a folder (SQLite in it) or a SQLAlchemy URL.

    Attributes:
        read_only: whether this process cannot write the file; then replies are only read.
        placeholders: the ids of calls whose replies no model gave; only a preview has any.

    Raises:
        UserError: the ledger cannot be opened, or another version of moot wrote it.
    """

    placeholders: Container[str] = frozenset()

    def __init__(self, ledger: str) -> None:
        self.place = ledger
        with explain_errors(lambda: self.place):
            self._engine = open_engine(ledger)
            if "://" in ledger:
                self.place = self._engine.url.render_as_string(hide_password=True)
            self.read_only = (file := read_only_file(self._engine)) is not None
            self._open_read_only(file) if file else self._create()
            self._new_call = insert_new(self._engine, CALLS, CALLS.c.tokens, CALLS.c.cost_usd)
            self._call_locks = call_locks(self._engine, self.place)
        # A lock on a call by its id: while it is held, no other process makes the call.
        self.claim = no_lock if self.read_only else self._call_locks.hold
        # Returns the entry of a call id, or None.
        self.get: Batched[str, Entry | None] = Batched(
            self._find, in_loop=folder_of(self._engine) is not None
        )
        # Stores an entry and returns the first reply that was stored under its call id.
        self.put: Batched[Entry, Reply] = Batched(self._keep, pause=_PAUSE)
        # Reserves a call's part of the budget; raises RunStoppedError if it could exceed a limit.
        self.reserve: Batched[Reservation, None] = Batched(self._reserve)

    def _create(self) -> None:
        """Create missing tables, one process at a time; leave a ledger of another version alone."""
        with self._engine.begin() as connection:
            if self._engine.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CREATION_LOCK)))
            else:
                connection.execute(sa.text("BEGIN IMMEDIATE"))
            TABLES.create_all(connection)
            connection.execute(
                insert_new(self._engine, META), {"name": "version", "value": str(VERSION)}
            )
            self._refuse_other_version(connection)
            connection.execute(
                insert_new(self._engine, TOTALS),
                {"name": "replies", "calls": 0, "tokens": 0, "cost_usd": 0.0},
            )

    def _open_read_only(self, file: Path) -> None:
        self._engine = open_read_only(file)
        with self._engine.connect() as connection:
            self._refuse_other_version(connection)

    def _refuse_other_version(self, connection: sa.Connection) -> None:
        version = int(connection.scalar(_VERSION) or VERSION)
        if version != VERSION:
            age, advice = (
                ("a newer", "Update moot, or set") if version > VERSION else ("an earlier", "Set")
            )
            raise UserError(
                f"ledger {self.place}: written by {age} moot (ledger version {version}; this moot"
                f" reads version {VERSION}). {advice} `ledger` to another folder."
            )

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """Begin a transaction of the ledger's database, for further tables."""
        with explain_errors(lambda: self.place), self._engine.begin() as connection:
            yield connection

    # Reading

    def _find(self, call_ids: Sequence[str]) -> list[Entry | None]:
        entries = {
            entry.call_id: entry for entry in self.entries(list(set(call_ids)), requests=False)
        }
        return [entries.get(call_id) for call_id in call_ids]

    def replies(self, call_ids: Sequence[str]) -> dict[str, Reply]:
        """Return the stored replies to `call_ids`."""
        return {entry.call_id: entry.reply for entry in self.entries(call_ids, requests=False)}

    def entries(self, call_ids: Sequence[str], *, requests: bool = True) -> Iterator[Entry]:
        """Yield the stored entries of `call_ids` in no particular order.

        If not `requests`, the entries' requests are "".
        """
        with self.transaction() as connection:
            for portion in portions(call_ids):
                keys = [bytes.fromhex(call_id) for call_id in portion]
                rows = connection.execute(_ENTRIES if requests else _REPLIES, {"among": keys})
                for key, model, replicate, reply, *request in rows.all():
                    text = decompress(request[0]) if requests else ""
                    content = Reply.from_json(decompress(reply))
                    yield Entry(key.hex(), model, text, replicate, content)

    def example_entries(self, models: Sequence[str], limit: int) -> list[Entry]:
        """Return up to `limit` stored entries of models, by their names in the configuration.

        The entries' requests are "".
        """
        query = sa.select(*_REPLY_COLUMNS).where(CALLS.c.model.in_(models)).limit(limit)
        with self.transaction() as connection:
            rows = connection.execute(query).all()
        entries = []
        for key, model, replicate, reply in rows:
            content = Reply.from_json(decompress(reply))
            entries.append(Entry(key.hex(), model, "", replicate, content))
        return entries

    # Writing

    def _keep(self, entries: Sequence[Entry]) -> list[Reply]:
        earlier_replies = self.store(entries)
        return [earlier_replies.get(entry.call_id, entry.reply) for entry in entries]

    def store(self, entries: Sequence[Entry]) -> dict[str, Reply]:
        """Store new entries in one transaction.

        Returns the replies that were already stored under the call ids of `entries`.
        """
        call_ids = [entry.call_id for entry in entries]
        rows = [_row(entry) for entry in entries]
        with self.transaction() as connection:
            stored_rows = connection.execute(self._new_call, rows).all() if rows else []
            added = {
                "more_calls": len(stored_rows),
                "more_tokens": sum(tokens for tokens, _ in stored_rows),
            }
            connection.execute(
                _ADD_TO_TOTALS, {**added, "more_usd": sum(usd for _, usd in stored_rows)}
            )
            for has_rows, delete in zip(
                connection.execute(_ANY_UNDER_WAY).one(), _DELETE_UNDER_WAY, strict=True
            ):
                if has_rows:
                    connection.execute(delete, {"among": call_ids})
        return {} if len(stored_rows) == len(entries) else self.replies(call_ids)

    async def put_attempt(self, call_id: str, tokens: int, usd: float) -> None:
        """Count an attempt that was paid for but gave no usable reply."""

        def store() -> None:
            row = {"call_id": call_id, "tokens": tokens, "cost_usd": usd}
            with self.transaction() as connection:
                connection.execute(sa.insert(ATTEMPTS), row)
                totals = {"tokens": TOTALS.c.tokens + tokens, "cost_usd": TOTALS.c.cost_usd + usd}
                connection.execute(sa.update(TOTALS).values(**totals))

        await asyncio.to_thread(store)

    async def put_failure(self, call_id: str, error: Failure) -> float:
        """Store a permanent failure, so that a replay fails the same way.

        Returns the cost of the call's attempts in US dollars.
        """
        table = REFUSALS if isinstance(error, LogprobsUnavailableError) else FAILURES

        def store() -> float:
            with self.transaction() as connection:
                for earlier in (table, *PENDING_TABLES):
                    connection.execute(sa.delete(earlier).where(earlier.c.call_id == call_id))
                connection.execute(
                    insert_new(self._engine, table), {"call_id": call_id, "error": str(error)}
                )
                return connection.scalar(_WASTED_USD.where(ATTEMPTS.c.call_id == call_id)) or 0.0

        return await asyncio.to_thread(store)

    async def failure(self, call_id: str) -> Failure | None:
        """Return the error of a call that failed in an earlier run, or None."""

        def read_error() -> Failure | None:
            select_refusal, select_failure = (
                sa.select(table.c.error).where(table.c.call_id == call_id)
                for table in (REFUSALS, FAILURES)
            )
            with self.transaction() as connection:
                if (error := connection.scalar(select_refusal)) is not None:
                    return LogprobsUnavailableError(error)
                if (error := connection.scalar(select_failure)) is not None:
                    return CallFailedError(
                        error,
                        connection.scalar(_WASTED_USD.where(ATTEMPTS.c.call_id == call_id)) or 0.0,
                    )
            return None

        return await asyncio.to_thread(read_error)

    # Budget

    def read_totals(self) -> Totals:
        """Return the totals of stored replies and paid attempts; `calls` counts replies only."""
        with self.transaction() as connection:
            return self._sum(connection, _SPENT)

    @staticmethod
    def _sum(connection: sa.Connection, query: sa.Select[Any]) -> Totals:
        calls, tokens, usd = connection.execute(query).one()
        return Totals(int(calls), int(tokens or 0), float(usd or 0.0))

    def _reserve(self, reservations: Sequence[Reservation]) -> list[RunStoppedError | None]:
        """Reserve the budget of calls, in order and across processes, until a limit is reached."""
        time_now = time.time()
        results: list[RunStoppedError | None] = []
        rows = []
        with self.transaction() as connection:
            self._lock_reservations(connection)
            call_ids = [reservation.call_id for reservation in reservations]
            is_stale = (RESERVATIONS.c.expires_at < time_now) | RESERVATIONS.c.call_id.in_(call_ids)
            connection.execute(sa.delete(RESERVATIONS).where(is_stale))
            totals = self._sum(connection, _SPENT)
            reserved_totals = self._sum(connection, _RESERVED)
            for request in reservations:
                limit_error = find_limit_error(totals, reserved_totals, request)
                results.append(limit_error)
                if limit_error is None:
                    reserved_totals = Totals(
                        reserved_totals.calls + 1,
                        reserved_totals.tokens + request.tokens,
                        reserved_totals.usd + request.usd,
                    )
                    row = {
                        "call_id": request.call_id,
                        "tokens": request.tokens,
                        "cost_usd": request.usd,
                    }
                    rows.append({**row, "expires_at": time_now + request.seconds})
            if rows:
                connection.execute(insert_new(self._engine, RESERVATIONS), rows)
        return results

    def _lock_reservations(self, connection: sa.Connection) -> None:
        """Prevent other processes from counting until these reservations are stored."""
        if self._engine.dialect.name == "postgresql":
            connection.execute(sa.text("LOCK TABLE reservations IN EXCLUSIVE MODE"))
        else:  # a write takes SQLite's write lock
            connection.execute(
                sa.update(META).where(META.c.name == "version").values(value=META.c.value)
            )

    def close(self) -> None:
        """Close the database's connections."""
        self._call_locks.close()
        self._engine.dispose()


def _row(entry: Entry) -> JsonObject:
    return {
        "call_id": bytes.fromhex(entry.call_id),
        "model": entry.model,
        "request": compress(entry.request),
        "replicate": entry.replicate,
        "reply": compress(entry.reply.to_json()),
        "tokens": entry.reply.prompt_tokens + entry.reply.completion_tokens,
        "cost_usd": entry.reply.cost_usd - entry.reply.unusable_usd,
    }


def compress(text: str) -> bytes:
    """Compress a text with zlib; unpaired surrogates are kept."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def decompress(content: bytes) -> str:
    """Return the text that `compress` compressed.

    Raises:
        DamagedError: the bytes are not a compressed text.
    """
    try:
        return zlib.decompress(content).decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError) as error:
        raise DamagedError(f"malformed: {error}") from None
