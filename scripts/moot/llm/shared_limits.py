"""A model's limits where several jobs speak with it: shared out among them, so that all together keep to them.

Calls under way: each job that asks holds a share of `concurrency`. Some times a second it writes down how many calls it
wants. Shares are fair by the max-min rule: a job that wants less than its part leaves the rest to the others, one that
wants nothing holds nothing. A share grows only as others give theirs back, so that all shares together never exceed the
limit. The share of a process that died is free as soon as another looks.

Rates: when the next call may be sent is kept for all jobs together (`Pace`), and so are the server's pauses.
"""

import asyncio
import hashlib
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import sqlalchemy as sa

from moot.core.model_config import ModelConfig
from moot.llm.ledger.batching import Batched
from moot.llm.ledger.processes import PACES, SHARES, Processes
from moot.llm.limits import Pace

_LOOK_SECONDS = 0.25
"""How often a job that holds or wants calls looks at the others' shares and at the server's pauses."""
_LOOK_SOONEST = 0.02


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


class SharedLimits:
    """One job's part of a model's limits.

    Args:
        processes: those at the ledger, which all share.
        model: what tells this model from others at the same ledger.
        config: its limits.
    """

    def __init__(self, processes: Processes, model: str, config: ModelConfig) -> None:
        self._processes, self._config = processes, config
        self._model = hashlib.sha256(model.encode()).hexdigest()
        self._in_use = self._allowed = 0
        self._satisfied = True  # the last look gave all that was wanted
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._wanted = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._paused_until = 0.0
        self._paced = config.requests_per_minute is not None or config.tokens_per_minute is not None
        self._places: Batched[int, tuple[bool, float]] = Batched(self._take_places)

    # Calls under way

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the calls that may be under way at once."""
        await self._enter()
        try:
            yield
        finally:
            self._leave()

    async def _enter(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        if not turn.done() and self._satisfied:
            self._wanted.set()
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_on())
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._leave()
            raise

    def _leave(self) -> None:
        self._in_use -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._in_use < self._allowed:
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_use += 1
                turn.set_result(None)

    def _demand(self) -> int:
        return self._in_use + sum(not turn.done() for turn in self._waiting)

    async def _look_on(self) -> None:
        """Adjust this job's share while it has or wants calls, and give it back at the end."""
        try:
            while True:
                self._wanted.clear()
                wanted = self._demand()
                self._allowed = self._in_use  # nobody more while others are told how many there are
                self._allowed, pause = await asyncio.to_thread(self._look, self._in_use, wanted)
                self._satisfied = self._allowed >= wanted
                self._paused_until = max(self._paused_until, time.monotonic() + pause)
                self._admit()
                if not (wanted or self._demand()):
                    return
                await asyncio.sleep(_LOOK_SOONEST)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), _LOOK_SECONDS - _LOOK_SOONEST)
        except Exception as error:  # its callers know what to do
            while self._waiting:
                turn = self._waiting.popleft()
                if not turn.done():
                    turn.set_exception(error)

    def _look(self, in_use: int, wanted: int) -> tuple[int, float]:
        """Write down what this job wants; the calls that it may have, and the seconds that the server asks to wait."""

        def agree(connection: sa.Connection, number: int) -> tuple[int, float]:
            mine = SHARES.c.model == self._model
            rows = connection.execute(sa.select(SHARES).where(mine)).mappings()
            shares = {int(row["process"]): row for row in rows}
            shares.pop(number, None)
            allowed = self._share(wanted, shares)
            if allowed < wanted and (ended := self._processes.ended(connection, shares)):
                connection.execute(sa.delete(SHARES).where(mine, SHARES.c.process.in_(ended)))
                allowed = self._share(wanted, {process: row for process, row in shares.items() if process not in ended})
            own = {"model": self._model, "process": number, "wanted": wanted, "held": max(in_use, allowed)}
            connection.execute(sa.delete(SHARES).where(mine, SHARES.c.process == number))
            if wanted:
                connection.execute(sa.insert(SHARES), own)
            paused_until = connection.scalar(sa.select(PACES.c.paused_until).where(PACES.c.model == self._model))
            return allowed, max(0.0, (paused_until or 0.0) - self._processes.now(connection))

        return self._processes.run(agree, alone=self._model)

    def _share(self, wanted: int, others: Mapping[int, sa.RowMapping]) -> int:
        free = self._config.concurrency - sum(int(row["held"]) for row in others.values())
        fair = fair_share(wanted, [int(row["wanted"]) for row in others.values()], self._config.concurrency)
        return max(0, min(fair, free))

    # Rates and pauses

    async def turn(self, tokens: int) -> None:
        """Wait until a call of so many tokens may be sent."""
        taken = False
        while not taken:
            while (pause := self._paused_until - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            taken, seconds = await self._places(tokens) if self._paced else (True, 0.0)
            await asyncio.sleep(seconds)
            taken = taken and time.monotonic() >= self._paused_until

    def _take_places(self, tokens: Sequence[int]) -> list[tuple[bool, float]]:
        def take(connection: sa.Connection, _: int) -> list[tuple[bool, float]]:
            pace, now = self._pace(connection), self._processes.now(connection)
            places = [pace.take(now, count, self._config) for count in tokens]
            self._keep(connection, pace)
            return places

        return self._processes.run(take, alone=self._model)

    def _pace(self, connection: sa.Connection) -> Pace:
        row = connection.execute(sa.select(PACES).where(PACES.c.model == self._model)).mappings().first()
        return Pace(row["requests_at"], row["tokens_at"], row["paused_until"]) if row else Pace()

    def _keep(self, connection: sa.Connection, pace: Pace) -> None:
        row = {"requests_at": pace.requests_at, "tokens_at": pace.tokens_at, "paused_until": pace.paused_until}
        connection.execute(sa.delete(PACES).where(PACES.c.model == self._model))
        connection.execute(sa.insert(PACES), {"model": self._model, **row})

    async def pause(self, seconds: float) -> None:
        """Hold back all calls of all jobs for so long."""
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)

        def pause(connection: sa.Connection, _: int) -> None:
            pace = self._pace(connection)
            pace.paused_until = max(pace.paused_until, self._processes.now(connection) + seconds)
            self._keep(connection, pace)

        await asyncio.to_thread(self._processes.run, pause, self._model)

    async def close(self) -> None:
        """Give this job's share back."""
        if self._looking is not None:
            self._wanted.set()
            await self._looking
