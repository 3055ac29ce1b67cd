"""What follows from one entry of the configuration: experiments of its grid, and templates."""

import itertools
import re
from collections.abc import Mapping

from moot.core.errors import unknown_name
from moot.core.experiment_config import ExperimentConfig
from moot.core.rubric import RUBRICS, Rubric
from moot.labels import JUDGE
from moot.protocols import PROTOCOLS, ProtocolEntry
from moot.protocols.controls import find_control


def expand_grid(name: str, config: ExperimentConfig) -> list[tuple[str, ExperimentConfig]]:
    """Expand an experiment with a grid to one experiment for each combination.

    The names are NAME-PARAMETER=VALUE.

    >>> config = ExperimentConfig(protocol="p", dataset="d", models=["m"], grid={"rounds": [1, 2]})
    >>> [grid_name for grid_name, _ in expand_grid("e", config)]
    ['e-rounds=1', 'e-rounds=2']
    """
    if not config.grid:
        return [(name, config)]
    expanded = []
    for values in itertools.product(*config.grid.values()):
        grid_point = dict(zip(config.grid, values, strict=True))
        suffix = "-".join(
            f"{parameter}={_value_name(value)}" for parameter, value in grid_point.items()
        )
        prompts = str(grid_point.pop("prompts", config.prompts) or "")
        params = {**config.params, **grid_point}
        update = {"params": params, "prompts": prompts, "grid": {}}
        expanded.append((f"{name}-{suffix}", config.model_copy(update=update)))
    return expanded


def _value_name(value: object) -> str:
    """Return a value of a grid as part of a name: a folder or file below `results/`."""
    return re.sub(r"[^a-z0-9._=-]+", "-", str(value).lower()).strip("-") or "none"


def find_rubric(
    config: ExperimentConfig, configured_rubrics: Mapping[str, Rubric]
) -> Rubric | None:
    """Return the rubric for an experiment's statements: the named one, or its protocol's.

    Args:
        config: the experiment's entry.
        configured_rubrics: the rubrics of the configuration.

    Raises:
        UserError: no rubric has this name.
    """
    if not config.labelers:
        return None
    name = config.rubric or PROTOCOLS[config.protocol].rubric
    if name and name not in configured_rubrics and name not in RUBRICS:
        raise unknown_name("rubric", name, [*configured_rubrics, *RUBRICS])
    return configured_rubrics.get(name) or (RUBRICS[name] if name else None)


def templates_used(config: ExperimentConfig, rubric: Rubric | None) -> tuple[str, ...]:
    """Return the prefixes of the templates that an experiment uses.

    These are its protocol's prefixes, and the prefix for a model that labels.
    """
    return (*templates_of_debates(config), *labelling_templates(config, rubric))


def templates_of_debates(config: ExperimentConfig) -> tuple[str, ...]:
    """Return the prefixes of the prompt templates that an experiment's debates use."""
    prefixes = list[str]()
    for protocol in protocols_of(config):
        prefixes += protocol.prompts
    control = find_control(config)
    if control and control.template:
        prefixes.append(control.template)
    return tuple(prefixes)


def protocols_of(config: ExperimentConfig) -> list[ProtocolEntry]:
    """Return an experiment's protocol, and the protocol of a judge that is asked again, if any."""
    judge_protocol = config.params.get("judge_protocol")
    return [
        PROTOCOLS[name]
        for name in (config.protocol, judge_protocol)
        if isinstance(name, str) and name in PROTOCOLS
    ]


def labelling_templates(config: ExperimentConfig, rubric: Rubric | None) -> tuple[str, ...]:
    """Return the template with which a model labels an experiment's statements, if one does."""
    judged = any(labeler.partition(":")[0] == JUDGE for labeler in config.labelers)
    return (rubric.prompt,) if judged and rubric else ()
