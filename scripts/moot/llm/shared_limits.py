"""A model's limits where several processes may speak with it: shared out at the ledger, and kept by all together.

Calls under way: each process that asks holds a share of `concurrency`. One that is alone holds all of it, and only
reads, some times a second, whether another has come: its calls cost no statement more than without sharing. Where
there are several, each writes down some times a second how many calls it wants. Shares are fair by the max-min rule:
one that wants less than its part leaves the rest to the others, one that wants nothing holds nothing; more processes
than calls take turns. A share grows only as others give theirs back, so that all shares together never exceed the
limit, which is the lowest that one of them was given. The share of a process that died is free once another looks.

Rates: when the next call may be sent is kept for all processes together (`Pace`), and so are the server's pauses. One
that is alone keeps them for itself, and writes them down before it gives a first call away.
"""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, astuple, dataclass

import sqlalchemy as sa

from moot.core.log import LOG
from moot.core.model_config import ModelConfig
from moot.llm.identity import served_as
from moot.llm.ledger.batching import Batched
from moot.llm.ledger.processes import PACES, SHARES, Processes
from moot.llm.limits import Limits, Pace

_LOOK_SECONDS = 0.25
"""How often a process looks at the others' shares and at the server's pauses, or, alone, whether there are others."""
_LOOK_SOONEST = 0.02
_TURN_SECONDS = 2.0
"""How long a turn lasts where more processes want calls than there may be calls."""
_SAY_SECONDS = 30.0
"""How long a process has waited for a first call when it says so."""


def fair_share(own: int, others: Sequence[int], total: int) -> int:
    """The part of `total` for one who wants `own`, beside `others`: max-min fair, rounded up.

    >>> fair_share(1, [20, 20], 9), fair_share(20, [20, 1], 9), fair_share(20, [], 9)
    (1, 4, 9)
    """
    left = total
    wants = sorted([*others, own])
    for place, want in enumerate(wants):
        share = -(-left // (len(wants) - place))
        if want >= min(own, share):
            return min(own, share)
        left -= want
    raise AssertionError("`own` is among the wants")


def has_turn(own: int, others: Sequence[int], total: int, now: float) -> bool:
    """Whether the process with the number `own` may call now: `total` of them at a time, in a circle.

    >>> [[has_turn(own, [1, 2, 3], 2, now) for own in (1, 2, 3)] for now in (0.0, 2.0)]
    [[True, True, False], [False, True, True]]
    """
    numbers = sorted({*others, own})
    return (numbers.index(own) - int(now / _TURN_SECONDS)) % len(numbers) < total


@dataclass(frozen=True, slots=True)
class _Share:
    """What processes agreed on: the calls that this one may have, all of them if it is alone, and the clock."""

    allowed: int
    alone: bool
    pace: Pace
    now: float


class SharedLimits(Limits):
    """One process's part of a model's limits, which all processes at a ledger share."""

    def __init__(self, processes: Processes, name: str, config: ModelConfig) -> None:
        super().__init__(config)
        self._processes, self._name = processes, name
        # What tells this model from others at the same ledger.
        self._model = hashlib.sha256(f"{name} {served_as(config)} {config.model}".encode()).hexdigest()
        self._free = asyncio.Semaphore(0)  # calls that may begin
        self._given = self._allowed = 0  # calls that may begin or are under way, and how many these may be
        self._demand = 0  # calls that wait or are under way
        self._alone = self._closing = self._looked = False
        self._untold = False  # what was kept alone is not written down
        self._satisfied = True  # the last look gave all that was wanted
        self._fault: Exception | None = None
        self._waits_since: float | None = None
        self._wanted = asyncio.Event()
        self._adjusting: asyncio.Task[None] | None = None
        self._clock = 0.0  # how far the ledger's clock, by which `_own` is, is from ours
        self._places: Batched[int, tuple[bool, float]] = Batched(self._take_places)

    # Calls under way

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the calls that may be under way at once."""
        self._demand += 1
        if self._adjusting is None or self._adjusting.done():
            self._fault, self._adjusting = None, asyncio.create_task(self._adjust_share())
        if self._free.locked() and self._satisfied:
            self._wanted.set()
        try:
            await self._free.acquire()
            try:
                if self._fault is not None:
                    raise self._fault
                yield
            finally:
                if self._given > self._allowed:
                    self._given -= 1
                else:
                    self._free.release()
        finally:
            self._demand -= 1

    def _let_begin(self, most: int) -> None:
        """Let as many calls be under way."""
        self._allowed = most
        while self._given < most:
            self._given += 1
            self._free.release()

    async def _adjust_share(self) -> None:
        """Adjust this process's share while it has or wants calls, or is alone, and give it back at the end."""
        try:
            while True:
                self._wanted.clear()
                if self._closing or not self._alone or await asyncio.to_thread(self._others_arrived):
                    wanted = await self._share_out()
                    if not (self._alone or wanted or self._demand):
                        return
                await asyncio.sleep(_LOOK_SOONEST)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), _LOOK_SECONDS - _LOOK_SOONEST)
        except Exception as error:  # its callers know what to do
            self._fault = error
            self._let_begin(self._demand)
            self._allowed = 0

    async def _share_out(self) -> int:
        """Look once, and let in as many calls as may be; those that were wanted."""
        while not self._free.locked():  # no more begin while others are told how many there are
            await self._free.acquire()
            self._given -= 1
        wanted, self._allowed, self._alone = self._demand, self._given, False
        found = await asyncio.to_thread(self._agree, self._given, wanted)
        self._clock = found.now - time.monotonic()
        self._own = _later(self._own, found.pace)
        self._looked, self._untold = True, found.alone
        self._alone = found.alone
        self._satisfied = found.allowed >= wanted and not found.alone
        self._paused_until = max(self._paused_until, found.pace.paused_until - self._clock)
        self._let_begin(found.allowed)
        self._warn_of_waiting(wanted)
        return wanted

    def _warn_of_waiting(self, wanted: int) -> None:
        if self._allowed or not wanted:
            self._waits_since = None
        elif self._waits_since is None:
            self._waits_since = time.monotonic()
        elif time.monotonic() - self._waits_since > _SAY_SECONDS:
            self._waits_since = float("inf")
            LOG.warning(
                "model '%s': waits, since other processes at this ledger have all %d calls (`concurrency`) under way. "
                "A process that was stopped (Ctrl-Z) keeps its calls: let it go on, or end it.",
                self._name,
                self._config.concurrency,
            )

    def _others_arrived(self) -> bool:
        """Whether another process has a share, or wants one; a read."""

        def read(connection: sa.Connection, number: int) -> bool:
            others = sa.select(SHARES.c.process).where(SHARES.c.model == self._model, SHARES.c.process != number)
            return connection.scalar(others.limit(1)) is not None

        return self._processes.run(read)

    def _agree(self, in_use: int, wanted: int) -> _Share:
        """Write down what this process wants, and find what it may have."""

        def share(connection: sa.Connection, number: int) -> _Share:
            mine, now = SHARES.c.model == self._model, self._processes.now(connection)
            rows = connection.execute(sa.select(SHARES).where(mine)).mappings()
            shares = {int(row["process"]): row for row in rows}
            shares.pop(number, None)
            if ended := self._processes.ended(connection, shares):
                connection.execute(sa.delete(SHARES).where(mine, SHARES.c.process.in_(ended)))
                shares = {process: row for process, row in shares.items() if process not in ended}
            alone = not shares and not self._closing
            allowed = self._config.concurrency if alone else self._share(number, wanted, shares, now)
            limit, held = self._config.concurrency, max(in_use, allowed)
            connection.execute(sa.delete(SHARES).where(mine, SHARES.c.process == number))
            if wanted or alone:
                row = {"model": self._model, "process": number, "most": limit, "wanted": wanted, "held": held}
                connection.execute(sa.insert(SHARES), row)
            if alone and not self._looked:  # what those wrote who have ended, by a clock that may have begun anew
                connection.execute(sa.delete(PACES).where(PACES.c.model == self._model))
            pace = self._pace(connection)
            if self._untold and not alone:
                self._keep(connection, pace)
            return _Share(allowed, alone, pace, now)

        return self._processes.run(share, alone=self._model)

    def _share(self, number: int, wanted: int, others: Mapping[int, sa.RowMapping], now: float) -> int:
        total = min([self._config.concurrency, *(int(row["most"]) for row in others.values())])
        if len(others) >= total and not has_turn(number, list(others), total, now):
            return 0
        free = total - sum(int(row["held"]) for row in others.values())
        fair = fair_share(wanted, [int(row["wanted"]) for row in others.values()], total)
        return max(0, min(fair, free))

    # Rates and pauses

    async def _place(self, tokens: int) -> tuple[bool, float]:
        if self._alone:
            return self._own.take(time.monotonic() + self._clock, tokens, self._config)
        return await self._places(tokens)

    def _take_places(self, tokens: Sequence[int]) -> list[tuple[bool, float]]:
        def take(connection: sa.Connection, _: int) -> list[tuple[bool, float]]:
            pace, now = self._pace(connection), self._processes.now(connection)
            places = [pace.take(now, count, self._config) for count in tokens]
            self._keep(connection, pace)
            self._own = _later(self._own, pace)
            return places

        return self._processes.run(take, alone=self._model)

    def _pace(self, connection: sa.Connection) -> Pace:
        """When the next call may be sent, by what all processes wrote down and what this one kept for itself."""
        row = connection.execute(sa.select(PACES).where(PACES.c.model == self._model)).mappings().first()
        return _later(self._own, Pace(row["requests_at"], row["tokens_at"], row["paused_until"]) if row else Pace())

    def _keep(self, connection: sa.Connection, pace: Pace) -> None:
        connection.execute(sa.delete(PACES).where(PACES.c.model == self._model))
        connection.execute(sa.insert(PACES), {"model": self._model, **asdict(pace)})

    async def pause(self, seconds: float) -> None:
        """Hold back all calls of all processes for so long."""
        await super().pause(seconds)
        if self._alone:
            self._own.paused_until = max(self._own.paused_until, self._paused_until + self._clock)
            return

        def pause(connection: sa.Connection, _: int) -> None:
            pace = self._pace(connection)
            pace.paused_until = max(pace.paused_until, self._processes.now(connection) + seconds)
            self._keep(connection, pace)

        await asyncio.to_thread(self._processes.run, pause, self._model)

    async def close(self) -> None:
        """Give this process's share back."""
        self._closing = True
        if self._adjusting is not None:
            self._wanted.set()
            await self._adjusting


def _later(one: Pace, other: Pace) -> Pace:
    return Pace(*map(max, astuple(one), astuple(other)))
