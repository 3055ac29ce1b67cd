"""Worlds of variance components, for the grid of `benchmarks/coverage_grid.py`."""

import itertools
from collections.abc import Iterator

import numpy as np
from simulated_worlds import Cell, Random, World, codes_of, draw_values

from moot.analyses.variance.components import decompose

COMPONENT_SIZES = {
    "10 cases of 5": [5] * 10,
    "24 cases of 1 or 10": [1, 10] * 12,
    "38 cases of 1 to 20": [1] * 10 + [2] * 10 + [3] * 10 + [4] * 5 + [20] * 3,
    "70 cases of 10 to 50": np.resize([20, 20, 19, 18, 25, 10, 49, 46, 13, 50], 70).tolist(),
}


def components() -> Iterator[Cell]:
    """Yield cells of the share of variance between cases with unequal numbers of answers."""
    for name, rate, share in itertools.product(
        COMPONENT_SIZES, (0.05, 0.15, 0.5), (0.05, 0.3, 0.5)
    ):
        sizes = COMPONENT_SIZES[name]

        def draw(
            random: Random, sizes: list[int] = sizes, rate: float = rate, share: float = share
        ) -> World:
            values = draw_values(random, sizes, rate, share)
            decomposition = decompose(values, {"case": codes_of(sizes)})
            if decomposition is None:
                return World((float("nan"), float("nan")), share)
            part = decomposition.components[0]
            return World((part.low, part.high), share)

        yield Cell("component of variance", f"{name}, rate {rate}, share {share}", draw)


KINDS = (components,)
