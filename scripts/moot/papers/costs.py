"""The costs of filling the papers' items, from `data/published/item_costs.csv`.

`benchmarks/paper_items.py` counts the calls of each item with a preview.
"""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from moot.core.amount_text import LESS_THAN, amount_text, bound_text
from moot.core.errors import UserError
from moot.papers.items import PaperItem

MILLION = 1e6
CALLS_AT_ONCE = 8
"""The default `concurrency` of a model."""
SECONDS_TO_FIRST_TOKEN = 0.7
TOKENS_PER_SECOND = 112
"""Tokens over seconds of 300 calls of gpt-5-mini, as the authors of AgenticSimLaw recorded them:
477 tokens in 4.3 s on average.
"""
SPEED = (
    f"{CALLS_AT_ONCE} calls at a time, {SECONDS_TO_FIRST_TOKEN} s to the first token and"
    f" {TOKENS_PER_SECOND} tokens a second"
)


@dataclass(frozen=True, slots=True)
class ItemCost:
    """The most that filling an item can cost.

    Attributes:
        calls: Calls of models.
        prompt_tokens, completion_tokens: Tokens read (estimated) and written (at most).
        usd: US dollars by the prices of config/models.yaml; models without a price cost nothing.
        minutes: Measured minutes of processor time; None if calls of models take the time.
    """

    calls: float
    prompt_tokens: float
    completion_tokens: float
    usd: float
    minutes: float | None

    @property
    def price(self) -> str:
        """The price in a few words."""
        if not self.calls:
            return "no model is asked"
        calls = "1 call" if self.calls == 1 else f"{self.calls:,.0f} calls"
        return f"{bound_text(self.usd, 2, 'US$ ')}, {calls}"

    @property
    def description(self) -> str:
        """The price with the tokens."""
        if not self.calls:
            return self.price
        tokens_read, tokens_written = map(_in_words, (self.prompt_tokens, self.completion_tokens))
        return f"{self.price}, {tokens_read} tokens to read, at most {tokens_written} to write"

    @property
    def estimated_minutes(self) -> float:
        """The minutes that all calls take at `SPEED`, each with as many tokens as it may write."""
        seconds = self.calls * SECONDS_TO_FIRST_TOKEN + self.completion_tokens / TOKENS_PER_SECOND
        return seconds / CALLS_AT_ONCE / 60

    @property
    def duration(self) -> str:
        """The minutes as text, marked as an estimate where they are not measured."""
        if self.minutes is not None:
            return amount_text(self.minutes, 1)
        if self.estimated_minutes < 1:
            return f"{LESS_THAN} 1 (estimate)"
        return f"{bound_text(self.estimated_minutes, 0)} (estimate)"


def _in_words(tokens: float) -> str:
    """Return a number of tokens as text, in millions from a tenth of a million."""
    if tokens >= MILLION / 10:
        return f"{tokens / MILLION:,.1f} million"
    return f"{tokens:,.0f}"


def costs_file(shipped: Path) -> Path:
    """Return the file of the items' costs."""
    return shipped / "data" / "published" / "item_costs.csv"


@cache
def read_costs(path: Path) -> dict[tuple[str, str], ItemCost]:
    """Return the costs by item and design (`full` or `lean`)."""
    costs: dict[tuple[str, str], ItemCost] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            costs[row["item"], row["design"]] = ItemCost(
                calls=float(row["calls"]),
                prompt_tokens=float(row["prompt_tokens"]),
                completion_tokens=float(row["completion_tokens"]),
                usd=float(row["usd"]),
                minutes=float(row["minutes"]) if row["minutes"] else None,
            )
    return costs


def costs_of(shipped: Path, item: PaperItem) -> tuple[ItemCost, ItemCost]:
    """Return the costs of the full and of the lean design of an item.

    Raises:
        UserError: The file has no row of the item.
    """
    path = costs_file(shipped)
    costs = read_costs(path)
    try:
        return costs[item.name, "full"], costs[item.name, "lean"]
    except KeyError:
        raise UserError(
            f"{path}: no row for item {item.name}. Count it with benchmarks/paper_items.py."
        ) from None
