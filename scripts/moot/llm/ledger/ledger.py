"""The ledger: every reply, durable before a protocol sees it, keyed by all that was asked, whom,
and the replicate.

SQLite for one machine, PostgreSQL for several. Reads, writes and reservations of one event loop are
gathered, so that durability costs one commit for many replies.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa

from moot.core.errors import CallFailedError, LogprobsUnavailableError, RunStoppedError, UserError
from moot.core.types import JsonObject
from moot.llm.ledger.batching import Batched
from moot.llm.ledger.call_locks import call_locks, no_lock
from moot.llm.ledger.compression import compress, decompress
from moot.llm.ledger.database import (
    AMONG,
    copy_of,
    explained,
    folder_of,
    open_engine,
    open_read_only,
    portions,
    read_only_file,
)
from moot.llm.ledger.processes import processes_at
from moot.llm.ledger.reservations import Reservation, Spent, limit_passed
from moot.llm.ledger.tables import (
    ATTEMPTS,
    BATCHED_CALLS,
    CALLS,
    FAILURES,
    META,
    REFUSALS,
    RESERVATIONS,
    TABLES,
    TOTALS,
    insert_new,
)
from moot.llm.request import Reply

Failure = CallFailedError | LogprobsUnavailableError
VERSION = 4
"""Of the format. A ledger of another version is refused."""
# Statements that run for each batch are made once: making one takes as long as the database takes
# to run it.
_STORED = (CALLS.c.call_id, CALLS.c.model, CALLS.c.replicate, CALLS.c.reply)
_ENTRIES = sa.select(*_STORED, CALLS.c.request).where(CALLS.c.call_id.in_(AMONG))
_REPLIES = sa.select(*_STORED).where(CALLS.c.call_id.in_(AMONG))
_UNDER_WAY = (FAILURES, REFUSALS, RESERVATIONS, BATCHED_CALLS)
_ANY_UNDER_WAY = sa.select(*(sa.select(table.c.call_id).exists() for table in _UNDER_WAY))
_ENDED = [sa.delete(table).where(table.c.call_id.in_(AMONG)) for table in _UNDER_WAY]
_MORE = sa.update(TOTALS).values(
    calls=TOTALS.c.calls + sa.bindparam("more_calls"),
    tokens=TOTALS.c.tokens + sa.bindparam("more_tokens"),
    cost_usd=TOTALS.c.cost_usd + sa.bindparam("more_usd"),
)
_VERSION = sa.select(META.c.value).where(META.c.name == "version")
_CREATION_LOCK = 6_061_984
_PAUSE = 0.0015
"""Seconds; a commit takes as long."""
_WASTED_USD = sa.select(sa.func.sum(ATTEMPTS.c.cost_usd))


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the ledger; `model` is the model's name in the configuration that asked."""

    call_id: str
    model: str
    request: str
    replicate: int
    reply: Reply


class Ledger:
    """Replies by call id. One object a process; several processes may share the same ledger.

    Args:
        ledger: a folder (SQLite in it) or a SQLAlchemy URL.

    Attributes:
        read_only: it is a file that this process cannot write: it answers, and stores nothing.

    Raises:
        UserError: the ledger cannot be opened, or another version of moot wrote it.
    """

    def __init__(self, ledger: str) -> None:
        self.place = ledger
        self._copy: TemporaryDirectory[str] | None = None
        with explained(lambda: self.place):
            self._engine = open_engine(ledger)
            if "://" in ledger:
                self.place = self._engine.url.render_as_string(hide_password=True)
            self.read_only = (file := read_only_file(self._engine)) is not None
            self._open_read_only(file) if file else self._create()
            self._new_call = insert_new(self._engine, CALLS, CALLS.c.tokens, CALLS.c.cost_usd)
            self.processes = processes_at(self._engine, self.place)
            self._call_locks = call_locks(self._engine, self.processes)
        # Held around a call by id: no other process makes it meanwhile.
        self.claim = no_lock if self.read_only else self._call_locks.hold
        # The entry of a call id, or None.
        self.get: Batched[str, Entry | None] = Batched(
            self._find, at_once=folder_of(self._engine) is not None
        )
        # Stores an entry and gives the reply that counts: the first that was stored under its call
        # id.
        self.put: Batched[Entry, Reply] = Batched(self._keep, pause=_PAUSE)
        # Sets aside what a call may take, or raises RunStoppedError where a limit could be passed.
        self.reserve: Batched[Reservation, None] = Batched(self._reserve)

    def _create(self) -> None:
        """Make the tables that are missing, one process at a time; a ledger of another version is
        left as it is.
        """
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
            if connection.scalar(sa.select(TOTALS.c.calls)) is None:
                stored, wasted = (self._total(connection, table) for table in (CALLS, ATTEMPTS))
                more = {
                    "tokens": stored.tokens + wasted.tokens,
                    "cost_usd": stored.usd + wasted.usd,
                }
                connection.execute(
                    sa.insert(TOTALS), {"name": "replies", "calls": stored.calls, **more}
                )

    def _open_read_only(self, file: Path) -> None:
        """Open a file as it is, or a copy of one that a killed process left unfinished."""
        self._engine = open_read_only(file)
        try:
            with self._engine.connect() as connection:
                self._refuse_other_version(connection)
                is_whole = set(TABLES.tables) <= set(sa.inspect(connection).get_table_names())
        except sa.exc.OperationalError:
            is_whole = False
        if is_whole:
            return
        self._engine.dispose()
        self._copy, copied = copy_of(file)
        self._engine = open_engine(str(copied.parent), copied.name)
        self._create()
        self._engine.dispose()
        self._engine = open_read_only(copied)

    def _refuse_other_version(self, connection: sa.Connection) -> None:
        found = int(connection.scalar(_VERSION) or VERSION)
        if found != VERSION:
            age, advice = (
                ("a newer", "Update moot, or set") if found > VERSION else ("an earlier", "Set")
            )
            raise UserError(
                f"ledger {self.place}: written by {age} moot (ledger version {found}; this moot"
                f" reads version {VERSION}). {advice} `ledger` to another folder."
            )

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """A transaction of the ledger's database, for tables beside the replies."""
        with explained(lambda: self.place), self._engine.begin() as connection:
            yield connection

    # Reading

    def _find(self, call_ids: Sequence[str]) -> list[Entry | None]:
        found = {
            entry.call_id: entry for entry in self.entries(list(set(call_ids)), requests=False)
        }
        return [found.get(call_id) for call_id in call_ids]

    def replies(self, call_ids: Sequence[str]) -> dict[str, Reply]:
        """The stored replies among `call_ids`."""
        return {entry.call_id: entry.reply for entry in self.entries(call_ids, requests=False)}

    def entries(self, call_ids: Sequence[str], *, requests: bool = True) -> Iterator[Entry]:
        """The stored entries among `call_ids`, in no particular order; without `requests` theirs
        are left "".
        """
        with self.transaction() as connection:
            for portion in portions(call_ids):
                keys = [bytes.fromhex(call_id) for call_id in portion]
                rows = connection.execute(_ENTRIES if requests else _REPLIES, {"among": keys})
                for key, model, replicate, reply, *request in rows.all():
                    text = decompress(request[0]) if requests else ""
                    content = Reply.from_json(decompress(reply))
                    yield Entry(key.hex(), model, text, replicate, content)

    # Writing

    def _keep(self, entries: Sequence[Entry]) -> list[Reply]:
        earlier = self.store(entries)
        return [earlier.get(entry.call_id, entry.reply) for entry in entries]

    def store(self, entries: Sequence[Entry]) -> dict[str, Reply]:
        """Store entries in one transaction; give back the earlier replies that some of them would
        have replaced.
        """
        call_ids = [entry.call_id for entry in entries]
        rows = [_row(entry) for entry in entries]
        with self.transaction() as connection:
            stored = connection.execute(self._new_call, rows).all() if rows else []
            more = {"more_calls": len(stored), "more_tokens": sum(tokens for tokens, _ in stored)}
            connection.execute(_MORE, {**more, "more_usd": sum(usd for _, usd in stored)})
            for found, ended in zip(connection.execute(_ANY_UNDER_WAY).one(), _ENDED, strict=True):
                if found:
                    connection.execute(ended, {"among": call_ids})
        return {} if len(stored) == len(entries) else self.replies(call_ids)

    async def put_attempt(self, call_id: str, tokens: int, usd: float) -> None:
        """Count an attempt that was paid for and gave no usable reply."""

        def store() -> None:
            row = {"call_id": call_id, "tokens": tokens, "cost_usd": usd}
            with self.transaction() as connection:
                connection.execute(sa.insert(ATTEMPTS), row)
                more = {"tokens": TOTALS.c.tokens + tokens, "cost_usd": TOTALS.c.cost_usd + usd}
                connection.execute(sa.update(TOTALS).values(**more))

        await asyncio.to_thread(store)

    async def put_failure(self, call_id: str, error: Failure) -> float:
        """Remember that a call failed for good, so that a replay fails likewise; gives what it cost
        in US dollars.
        """
        table = REFUSALS if isinstance(error, LogprobsUnavailableError) else FAILURES

        def store() -> float:
            with self.transaction() as connection:
                for earlier in (table, RESERVATIONS, BATCHED_CALLS):
                    connection.execute(sa.delete(earlier).where(earlier.c.call_id == call_id))
                connection.execute(
                    insert_new(self._engine, table), {"call_id": call_id, "error": str(error)}
                )
                return connection.scalar(_WASTED_USD.where(ATTEMPTS.c.call_id == call_id)) or 0.0

        return await asyncio.to_thread(store)

    async def failure(self, call_id: str) -> Failure | None:
        """The error that a call failed with in an earlier run, or None."""

        def read() -> Failure | None:
            refused, failed = (
                sa.select(table.c.error).where(table.c.call_id == call_id)
                for table in (REFUSALS, FAILURES)
            )
            with self.transaction() as connection:
                if (error := connection.scalar(refused)) is not None:
                    return LogprobsUnavailableError(error)
                if (error := connection.scalar(failed)) is not None:
                    return CallFailedError(
                        error,
                        connection.scalar(_WASTED_USD.where(ATTEMPTS.c.call_id == call_id)) or 0.0,
                    )
            return None

        return await asyncio.to_thread(read)

    # Budget

    def spent(self) -> Spent:
        """What all stored replies took, and the attempts before them that were paid for (calls:
        replies alone).
        """
        with self.transaction() as connection:
            return self._spent(connection)

    @staticmethod
    def _spent(connection: sa.Connection) -> Spent:
        calls, tokens, usd = connection.execute(
            sa.select(TOTALS.c.calls, TOTALS.c.tokens, TOTALS.c.cost_usd)
        ).one()
        return Spent(int(calls), int(tokens), float(usd))

    @staticmethod
    def _total(connection: sa.Connection, table: sa.Table) -> Spent:
        query = sa.select(
            sa.func.count(), sa.func.sum(table.c.tokens), sa.func.sum(table.c.cost_usd)
        )
        calls, tokens, usd = connection.execute(query.select_from(table)).one()
        return Spent(int(calls), int(tokens or 0), float(usd or 0.0))

    def _reserve(self, wanted: Sequence[Reservation]) -> list[RunStoppedError | None]:
        """Set aside what calls may take, in their order, until a limit would be passed; across
        processes.
        """
        now = time.time()
        results: list[RunStoppedError | None] = []
        rows = []
        with self.transaction() as connection:
            self._lock_reservations(connection)
            own = [reservation.call_id for reservation in wanted]
            stale = (RESERVATIONS.c.expires_at < now) | RESERVATIONS.c.call_id.in_(own)
            connection.execute(sa.delete(RESERVATIONS).where(stale))
            spent, reserved = self._spent(connection), self._total(connection, RESERVATIONS)
            for one in wanted:
                passed = limit_passed(spent, reserved, one)
                results.append(passed)
                if passed is None:
                    reserved = Spent(
                        reserved.calls + 1, reserved.tokens + one.tokens, reserved.usd + one.usd
                    )
                    row = {"call_id": one.call_id, "tokens": one.tokens, "cost_usd": one.usd}
                    rows.append({**row, "expires_at": now + one.seconds})
            if rows:
                connection.execute(insert_new(self._engine, RESERVATIONS), rows)
        return results

    def _lock_reservations(self, connection: sa.Connection) -> None:
        """Let no other process count between our counting and our reserving."""
        if self._engine.dialect.name == "postgresql":
            connection.execute(sa.text("LOCK TABLE reservations IN EXCLUSIVE MODE"))
        else:  # a write takes SQLite's one write lock at once
            connection.execute(
                sa.update(META).where(META.c.name == "version").values(value=META.c.value)
            )

    def close(self) -> None:
        """Give the database's connections back."""
        self._call_locks.close()
        self.processes.close()
        self._engine.dispose()
        if self._copy is not None:
            self._copy.cleanup()


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
