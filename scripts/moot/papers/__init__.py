"""The papers' numbered tables and figures; studies register the functions that fill them.

`data/published/items.yaml` describes the form of each item. A study fills an item with a function
in a module whose name begins with `papers`. Several studies may fill the same item, so that no
study needs to know another.
"""

from collections.abc import Callable
from dataclasses import dataclass

from moot.core.registry import Registry
from moot.papers.parts import ItemRun, Part

Filler = Callable[[ItemRun], list[Part]]


@dataclass(frozen=True, slots=True)
class ItemFiller:
    """A function that computes parts of an item.

    Attributes:
        item: The item, such as `courtroom/table4`.
        study: The study whose results it reads.
        fill: The function.
    """

    item: str
    study: str
    fill: Filler


FILLERS: Registry[ItemFiller] = Registry("paper item", "papers")


def fills(item: str, study: str) -> Callable[[Filler], Filler]:
    """Register a function that fills an item from the results of a study."""

    def add(fill: Filler) -> Filler:
        FILLERS.register(f"{item} from {study}")(ItemFiller(item, study, fill))
        return fill

    return add


def fillers_of(item: str) -> list[ItemFiller]:
    """Return the functions that fill an item, sorted by study."""
    return [FILLERS[name] for name in FILLERS if FILLERS[name].item == item]
