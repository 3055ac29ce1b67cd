"""The progress line of a job: finished debates, calls, tokens per second, cost, time left."""

import time
from dataclasses import dataclass, field

from moot.core.amount_text import LESS_THAN, amount_text
from moot.core.log import LOG

_EVERY_SECONDS = 20.0


@dataclass(slots=True)
class Progress:
    """Running totals of one job; `tick` writes a line at most every few seconds.

    Debates advance in parallel, so that most end late. Therefore progress is computed from calls:
    `calls_a_debate` is the approximate number of calls of a debate (0 if unknown).
    """

    name: str
    debates: int = 0
    debates_done: int = 0
    new_calls: int = 0
    ledger_calls: int = 0
    waves: int = 0
    retries: int = 0
    failed_calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    calls_a_debate: int = 0
    start_time: float = field(default_factory=time.monotonic)
    last_line: float = field(default_factory=time.monotonic)

    @property
    def calls(self) -> int:
        """Calls answered so far."""
        return self.new_calls + self.ledger_calls

    def tick(self) -> None:
        """Write a line if the last one is some seconds old."""
        if time.monotonic() - self.last_line >= _EVERY_SECONDS:
            self.last_line = time.monotonic()
            LOG.info(self.line(), extra={"progress": True})

    def line(self) -> str:
        """Return the state of the job in one line."""
        seconds = time.monotonic() - self.start_time
        expected = max(self.calls_a_debate * self.debates, self.calls)
        expectation = (
            f" of about {expected}"
            if self.calls_a_debate and self.debates_done < self.debates
            else ""
        )
        parts = [
            f"{self.name}: {self.calls}{expectation} calls, {self.debates_done} of"
            f" {self.debates} debates",
            f"{self.new_calls} calls made, {self.ledger_calls} from the ledger",
            f"{self.tokens / seconds if seconds else 0:.0f} tokens/s" if self.tokens else "",
            f"{amount_text(self.cost_usd, 4)} US dollars" if self.cost_usd else "",
            f"{self.waves} waves of batched calls" if self.waves else "",
            f"{self.retries} retries" if self.retries else "",
            f"{self.failed_calls} calls failed" if self.failed_calls else "",
        ]
        if self.debates_done == self.debates:
            parts.append(f"{seconds:.0f} s")
        elif expectation and self.new_calls:
            parts.append(describe_time_left(seconds / self.new_calls * (expected - self.calls)))
        return "; ".join(filter(None, parts))


def describe_time_left(seconds: float) -> str:
    """Return the seconds that are left, in words."""
    text = amount_text(seconds, 0)
    return f"{text if text.startswith(LESS_THAN) else f'about {text}'} s left"
