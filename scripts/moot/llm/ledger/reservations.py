"""What calls may take of a budget, set aside before they are made, and when a limit would be
passed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from moot.core.errors import RunStoppedError


@dataclass(frozen=True, slots=True)
class Spent:
    """What the ledger holds in total, calls under way included."""

    calls: int
    tokens: int
    usd: float


@dataclass(frozen=True, slots=True)
class Reservation:
    """The most that a call may take, set aside before it is made.

    Attributes:
        call_id: the call; storing its reply ends the reservation.
        tokens, usd: the most that the call can take.
        seconds: how long the reservation holds, should this process die.
        limits: `calls`, `tokens`, `usd`, as far as limited.
    """

    call_id: str
    tokens: int
    usd: float
    seconds: float
    limits: Mapping[str, float]


def limit_passed(spent: Spent, reserved: Spent, one: Reservation) -> RunStoppedError | None:
    """The error that stops the run, if a call could pass one of its limits."""
    needed = {
        "calls": spent.calls + reserved.calls + 1,
        "tokens": spent.tokens + reserved.tokens + one.tokens,
        "usd": spent.usd + reserved.usd + one.usd,
    }
    for name, limit in one.limits.items():
        if needed[name] > limit:
            return RunStoppedError(
                f"budget: the next call could pass the limit of {limit:g} {name}. Spent so far:"
                f" {spent.calls} calls, {spent.tokens} tokens, {spent.usd:.4f} US dollars;"
                f" {reserved.calls} calls under way. Every reply is kept: raise `budget` and run"
                " again to go on; `snakemake preview` says what remains."
            )
    return None
