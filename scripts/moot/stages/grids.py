"""Grids: one entry of the configuration as an experiment for each combination of values."""

import itertools
import re

from moot.core.config import ExperimentConfig


def expand_grid(name: str, config: ExperimentConfig) -> list[tuple[str, ExperimentConfig]]:
    """An experiment with a grid as one experiment for each combination, named NAME-PARAMETER=VALUE.

    >>> config = ExperimentConfig(protocol="p", dataset="d", models=["m"], grid={"rounds": [1, 2]})
    >>> [grid_name for grid_name, _ in expand_grid("e", config)]
    ['e-rounds=1', 'e-rounds=2']
    """
    if not config.grid:
        return [(name, config)]
    expanded = []
    for values in itertools.product(*config.grid.values()):
        chosen = dict(zip(config.grid, values, strict=True))
        suffix = "-".join(f"{parameter}={_value_name(value)}" for parameter, value in chosen.items())
        prompts = str(chosen.pop("prompts", config.prompts) or "")
        params = {**config.params, **chosen}
        update = {"params": params, "prompts": prompts, "grid": {}}
        expanded.append((f"{name}-{suffix}", config.model_copy(update=update)))
    return expanded


def _value_name(value: object) -> str:
    """A value of a grid as part of a name: a folder or file below `results/`."""
    return re.sub(r"[^a-z0-9._=-]+", "-", str(value).lower()).strip("-") or "none"
