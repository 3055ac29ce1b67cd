"""The papers' numbered tables and figures; studies register the functions that fill them.

`data/published/items.yaml` describes the form of each item. A study fills an item with a function
in a module whose name begins with `papers`. Several studies may fill the same item, so that no
study needs to know another.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from moot.core.registry import Registry
from moot.papers.items import PaperItem
from moot.papers.parts import Design, ItemRun, Part
from moot.report.study_results import StudyResults

Filler = Callable[[ItemRun], Iterable[Part]]


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


def fills(study: str, *items: str) -> Callable[[Filler], Filler]:
    """Register a function that fills items from the results of a study."""

    def add(fill: Filler) -> Filler:
        for item in items:
            FILLERS.register(f"{item} from {study}")(ItemFiller(item, study, fill))
        return fill

    return add


def fill_item(
    item: PaperItem,
    results: Mapping[str, StudyResults],
    designs: tuple[Design, ...] = (),
    models: Mapping[str, str] | None = None,
) -> list[Part]:
    """Return the parts of an item from the results of each study, in the order of studies."""
    parts: list[Part] = []
    for name in FILLERS:
        filler = FILLERS[name]
        if filler.item == item.name and filler.study in results:
            parts += filler.fill(ItemRun(item, results[filler.study], designs, models or {}))
    return parts
