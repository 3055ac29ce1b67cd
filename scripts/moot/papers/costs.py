"""What the papers' items cost: read from `data/published/item_costs.csv`.

`benchmarks/paper_items.py` counts the calls of each item by a preview.
"""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from moot.core.errors import UserError
from moot.papers.items import PaperItem

NOT_RUN = "not run here"
MILLION = 1e6


@dataclass(frozen=True, slots=True)
class ItemCost:
    """The most that filling an item can cost.

    Attributes:
        calls: Calls of models.
        prompt_tokens, completion_tokens: Tokens read (estimated) and written (at most).
        usd: US dollars by the prices of config/models.yaml; models without a price cost nothing.
        minutes: Measured minutes of processor time; None if it was not run.
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
        return f"at most US$ {self.usd:,.2f}, {self.calls:,.0f} calls"

    @property
    def description(self) -> str:
        """The price with the tokens."""
        if not self.calls:
            return self.price
        read, written = self.prompt_tokens / MILLION, self.completion_tokens / MILLION
        return f"{self.price}, {read:,.1f} million tokens to read, at most {written:,.1f} to write"

    @property
    def duration(self) -> str:
        """The minutes as text."""
        return NOT_RUN if self.minutes is None else f"{self.minutes:.1f}"


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
