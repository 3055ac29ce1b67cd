"""Components of variance come out as textbooks print them."""

from collections.abc import Sequence

import numpy as np
import pytest

from moot.analyses.variance.components import decompose
from textbook_examples import Example

SHROUT_AND_FLEISS = "Shrout and Fleiss 1979, Psychological Bulletin 86, tables 2 to 4"
DYESTUFF = "Davies and Goldsmith 1972, Statistical Methods, section 6.4"
BATCHES = (
    (1545, 1440, 1440, 1520, 1580),
    (1540, 1555, 1490, 1560, 1495),
    (1595, 1550, 1605, 1510, 1560),
    (1445, 1440, 1595, 1465, 1545),
    (1595, 1630, 1515, 1635, 1625),
    (1520, 1455, 1450, 1480, 1445),
)
TARGETS = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))


def component(rows: Sequence[Sequence[int]], effect: str, is_crossed: bool = False) -> tuple:
    """Variance and share of an effect ("row", "column" or "" for what is left)."""
    values = np.array(rows, dtype=float)
    row, column = (part.ravel().tolist() for part in np.indices(values.shape))
    facets = {"row": row, "column": column} if is_crossed else {"row": row}
    decomposition = decompose(values.ravel(), facets)
    assert decomposition is not None
    wanted_effect = frozenset({effect} - {""})
    part = next(part for part in decomposition.components if part.effect == wanted_effect)
    return part.variance, part.share


EXAMPLES = [
    Example(DYESTUFF, "between batches", lambda: component(BATCHES, "row")[0], 1764.05, 5e-3),
    Example(DYESTUFF, "within batches", lambda: component(BATCHES, "")[0], 2451.25, 5e-3),
    Example(SHROUT_AND_FLEISS, "ICC(1,1)", lambda: component(TARGETS, "row")[1], 0.17, 5e-3),
    Example(SHROUT_AND_FLEISS, "ICC(2,1)", lambda: component(TARGETS, "row", True)[1], 0.29, 5e-3),
    Example(SHROUT_AND_FLEISS, "EMS", lambda: component(TARGETS, "", True)[0], 1.02, 5e-3),
    Example(SHROUT_AND_FLEISS, "WMS", lambda: component(TARGETS, "")[0], 6.26, 5e-3),
    Example(
        SHROUT_AND_FLEISS,
        "judges, from JMS and EMS",
        lambda: component(TARGETS, "column", True)[0],
        (32.49 - 1.02) / 6,
        5e-3,
    ),
    Example(
        SHROUT_AND_FLEISS,
        "targets, from BMS and EMS",
        lambda: component(TARGETS, "row", True)[0],
        (11.24 - 1.02) / 4,
        5e-3,
    ),
]


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=lambda example: f"{example.source}: {example.name}"
)
def test_a_published_example_gives_the_printed_value(example: Example) -> None:
    assert example.compute() == pytest.approx(example.printed, abs=example.tolerance)
