"""A model's limits, shared at the ledger by all processes that call it.

Concurrent calls: each process has a share of `concurrency`, and records several times a second how
many calls it wants. A single process has the whole limit. Shares are fair by the max-min rule: a
process that wants less than its part leaves the rest to the others. If there are more processes
than calls, they take turns. A share grows only after others have returned theirs, so that the sum
never exceeds the limit, which is the lowest limit of all processes. The share of a process that
died becomes free when another process reads the shares.

Rates: the time of the next call (`Pace`) and the server's pauses are shared by all processes.
"""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict

import sqlalchemy as sa

from moot.core.log import LOG
from moot.core.model_config import ModelConfig
from moot.llm.identity import served_as
from moot.llm.ledger.batching import Batched
from moot.llm.ledger.processes import PACES, SHARES, Processes
from moot.llm.limits import Limits, Pace

_LOOK_SECONDS = 0.25
"""How often a process reads the others' shares and the server's pauses, in seconds."""
_LOOK_SOONEST = 0.02
_TURN_SECONDS = 2.0
"""How long a turn lasts if more processes want calls than the limit allows."""
_SAY_SECONDS = 30.0
"""The time without a first call after which a process logs that it waits."""


def fair_share(demand: int, other_demands: Sequence[int], total: int) -> int:
    """Return the max-min fair part of `total` for one process, rounded up.

    It wants `demand`, and others want `other_demands`.

        >>> fair_share(1, [20, 20], 9), fair_share(20, [20, 1], 9), fair_share(20, [], 9)
        (1, 4, 9)
    """
    remaining = total
    wants = sorted([*other_demands, demand])
    for place, want in enumerate(wants):
        share = -(-remaining // (len(wants) - place))
        if want >= min(demand, share):
            return min(demand, share)
        remaining -= want
    raise AssertionError("`own` is among the wants")


def has_turn(process: int, other_processes: Sequence[int], total: int, seconds: float) -> bool:
    """Return whether the process with the number `process` may call now.

    `total` processes at a time may call, in turn.

    >>> [[has_turn(own, [1, 2, 3], 2, now) for own in (1, 2, 3)] for now in (0.0, 2.0)]
    [[True, True, False], [False, True, True]]
    """
    numbers = sorted({*other_processes, process})
    return (numbers.index(process) - int(seconds / _TURN_SECONDS)) % len(numbers) < total


class SharedLimits(Limits):
    """One process's share of a model's limits at the ledger."""

    def __init__(self, processes: Processes, name: str, config: ModelConfig) -> None:
        super().__init__(config)
        self._processes, self._name = processes, name
        # Distinguishes this model from others at the same ledger.
        self._model = hashlib.sha256(
            f"{name} {served_as(config)} {config.model}".encode()
        ).hexdigest()
        self._free = asyncio.Semaphore(0)  # calls that may begin
        self._open_slots = self._max_slots = (
            0  # calls that may begin or have begun, and the maximum of these
        )
        self._demand = 0  # calls that wait or have begun
        self._has_looked = False
        self._could_have_more = (
            True  # whether the last share was all that was wanted, but not the whole limit
        )
        self._fault: Exception | None = None
        self._waits_since: float | None = None
        self._demand_changed = asyncio.Event()
        self._adjusting: asyncio.Task[None] | None = None
        self._places: Batched[int, tuple[bool, float]] = Batched(self._take_places)

    # Concurrent calls

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the concurrent calls."""
        self._demand += 1
        if self._adjusting is None or self._adjusting.done():
            self._fault, self._adjusting = None, asyncio.create_task(self._adjust_share())
        if self._free.locked() and self._could_have_more:
            self._demand_changed.set()
        try:
            await self._free.acquire()
            try:
                if self._fault is not None:
                    raise self._fault
                yield
            finally:
                if self._open_slots > self._max_slots:
                    self._open_slots -= 1
                else:
                    self._free.release()
        finally:
            self._demand -= 1

    def _let_begin(self, limit: int) -> None:
        """Allow this number of concurrent calls."""
        self._max_slots = limit
        while self._open_slots < limit:
            self._open_slots += 1
            self._free.release()

    async def _adjust_share(self) -> None:
        """Adjust this process's share while it has calls, and return it at the end."""
        try:
            while await self._share_out() or self._demand:
                await asyncio.sleep(_LOOK_SOONEST)
                with suppress(TimeoutError):
                    await asyncio.wait_for(
                        self._demand_changed.wait(), _LOOK_SECONDS - _LOOK_SOONEST
                    )
                self._demand_changed.clear()
        except Exception as error:  # its callers handle it
            self._fault = error
            self._let_begin(self._demand)
            self._max_slots = 0

    async def _share_out(self) -> int:
        """Adjust the share once; return how many calls this process has."""
        while not self._free.locked():  # no call begins while shares are adjusted
            await self._free.acquire()
            self._open_slots -= 1
        demand, self._max_slots = self._demand, self._open_slots
        limit, paused_seconds = await asyncio.to_thread(self._agree, self._open_slots, demand)
        self._has_looked = True
        self._could_have_more = demand <= limit < self._config.concurrency
        self._paused_until = max(self._paused_until, time.monotonic() + paused_seconds)
        self._let_begin(limit)
        self._warn_of_waiting(demand)
        return demand

    def _warn_of_waiting(self, demand: int) -> None:
        if self._max_slots or not demand:
            self._waits_since = None
        elif self._waits_since is None:
            self._waits_since = time.monotonic()
        elif time.monotonic() - self._waits_since > _SAY_SECONDS:
            self._waits_since = float("inf")
            LOG.warning(
                "model '%s': waits, since other processes at this ledger have all %d calls "
                "(`concurrency`) under way. A process that was stopped (Ctrl-Z) keeps its calls: "
                "continue or end it.",
                self._name,
                self._config.concurrency,
            )

    def _agree(self, in_use: int, demand: int) -> tuple[int, float]:
        """Record the demand of this process.

        Returns:
            The number of calls that it may have, and for how many seconds all calls are paused.
        """

        def share(connection: sa.Connection, number: int) -> tuple[int, float]:
            is_model, seconds = (
                SHARES.c.model == self._model,
                self._processes.read_clock(connection),
            )
            rows = connection.execute(sa.select(SHARES).where(is_model)).mappings()
            shares = {int(row["process"]): row for row in rows}
            shares.pop(number, None)
            if ended_processes := self._processes.find_ended(connection, shares):
                connection.execute(
                    sa.delete(SHARES).where(is_model, SHARES.c.process.in_(ended_processes))
                )
                shares = {
                    process: row
                    for process, row in shares.items()
                    if process not in ended_processes
                }
            call_count = self._share(number, demand, shares, seconds) if demand else 0
            connection.execute(sa.delete(SHARES).where(is_model, SHARES.c.process == number))
            if demand:
                columns = {
                    "wanted": demand,
                    "held": max(in_use, call_count),
                    "most": self._config.concurrency,
                }
                connection.execute(
                    sa.insert(SHARES), {"model": self._model, "process": number, **columns}
                )
            if (
                not shares and not self._has_looked
            ):  # entries of ended processes, by a clock that may have restarted
                connection.execute(sa.delete(PACES).where(PACES.c.model == self._model))
            return call_count, self._pace(connection).paused_until - seconds

        return self._processes.run(share, lock_name=self._model)

    def _share(
        self, number: int, demand: int, other_shares: Mapping[int, sa.RowMapping], seconds: float
    ) -> int:
        total = min(
            [self._config.concurrency, *(int(row["most"]) for row in other_shares.values())]
        )
        if not other_shares:
            return total
        if len(other_shares) >= total and not has_turn(number, list(other_shares), total, seconds):
            return 0
        free = total - sum(int(row["held"]) for row in other_shares.values())
        fair = fair_share(demand, [int(row["wanted"]) for row in other_shares.values()], total)
        return max(0, min(fair, free))

    # Rates and pauses

    async def _place(self, tokens: int) -> tuple[bool, float]:
        return await self._places(tokens)

    def _take_places(self, tokens: Sequence[int]) -> list[tuple[bool, float]]:
        def take(connection: sa.Connection, _: int) -> list[tuple[bool, float]]:
            pace, seconds = self._pace(connection), self._processes.read_clock(connection)
            places = [pace.take(seconds, count, self._config) for count in tokens]
            self._keep(connection, pace)
            return places

        return self._processes.run(take, lock_name=self._model)

    def _pace(self, connection: sa.Connection) -> Pace:
        """Return when the next call may be sent."""
        row = (
            connection.execute(sa.select(PACES).where(PACES.c.model == self._model))
            .mappings()
            .first()
        )
        return Pace(row["requests_at"], row["tokens_at"], row["paused_until"]) if row else Pace()

    def _keep(self, connection: sa.Connection, pace: Pace) -> None:
        connection.execute(sa.delete(PACES).where(PACES.c.model == self._model))
        connection.execute(sa.insert(PACES), {"model": self._model, **asdict(pace)})

    async def pause(self, seconds: float) -> None:
        """Hold back all calls of all processes for some seconds."""
        await super().pause(seconds)

        def pause(connection: sa.Connection, _: int) -> None:
            pace = self._pace(connection)
            pace.paused_until = max(
                pace.paused_until, self._processes.read_clock(connection) + seconds
            )
            self._keep(connection, pace)

        await asyncio.to_thread(self._processes.run, pause, self._model)

    async def close(self) -> None:
        """Return this process's share."""
        if self._adjusting is not None:
            self._demand_changed.set()
            await self._adjusting
