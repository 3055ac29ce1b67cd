"""The rubrics of a configuration and of extensions, checked."""

from collections.abc import Callable

from moot.core.config import Config
from moot.core.places import Faults
from moot.core.rubric import RUBRICS


def check_rubrics(config: Config, where: Callable[..., str], faults: Faults) -> None:
    """Note what is wrong with rubrics.

    Args:
        config: the configuration.
        where: file and key of a place in it.
        faults: takes what is wrong.
    """
    for name, rubric in config.rubrics.items():
        if name in RUBRICS:
            faults.add(f"{where('rubrics', name)}: the rubric '{name}' exists already. Give yours another name.")
        for key, problem in rubric.problems():
            faults.add(f"{where('rubrics', name, *key)}: {problem}")
    for name, module in RUBRICS.extensions.items():
        for key, problem in RUBRICS[name].problems():
            faults.add(f"{module}: rubric {name}: {'.'.join(key)}: {problem}")
