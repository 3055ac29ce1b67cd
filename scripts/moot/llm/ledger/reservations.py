"""Reservations: the part of a budget that is set aside for a call before it is made."""

from collections.abc import Mapping
from dataclasses import dataclass

from moot.core.amount_text import amount_text
from moot.core.errors import RunStoppedError


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of calls, tokens and cost in US dollars."""

    calls: int
    tokens: int
    usd: float


@dataclass(frozen=True, slots=True)
class Reservation:
    """The largest tokens and cost of a call, set aside before it is made.

    Attributes:
        call_id: the call. The reservation ends when its reply is stored.
        tokens, usd: the largest amounts that the call can use.
        seconds: how long the reservation is valid if this process dies.
        limits: the limits of the budget by `calls`, `tokens`, `usd`; unlimited amounts are absent.
    """

    call_id: str
    tokens: int
    usd: float
    seconds: float
    limits: Mapping[str, float]


def find_limit_error(
    totals: Totals, reserved: Totals, reservation: Reservation
) -> RunStoppedError | None:
    """Return the error that stops the run if a call could exceed one of its limits, else None."""
    needs = {
        "calls": totals.calls + reserved.calls + 1,
        "tokens": totals.tokens + reserved.tokens + reservation.tokens,
        "usd": totals.usd + reserved.usd + reservation.usd,
    }
    for name, limit in reservation.limits.items():
        if needs[name] > limit:
            return RunStoppedError(
                f"budget: the next call could pass the limit of {limit:g} {name}. Spent so far:"
                f" {totals.calls} calls, {totals.tokens} tokens, {amount_text(totals.usd, 4)} US"
                f" dollars;"
                f" {reserved.calls} calls under way. Every reply is kept: raise `budget` and run"
                " again to go on; `snakemake preview` says what remains."
            )
    return None
