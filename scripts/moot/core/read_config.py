"""Reading the configuration: files over files, and all that is wrong with what they hold, said at
once.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from itertools import pairwise
from pathlib import Path

from pydantic import ValidationError

from moot.core.config import Config
from moot.core.places import (
    Faults,
    Location,
    fault_message,
    keys_beside,
    location_of,
    plain_values,
    twice_given,
    where,
)
from moot.core.types import Fields, Json, JsonObject
from moot.core.yaml_text import load_yaml

_SECTIONS = ("models", "datasets", "experiments", "contrasts", "rubrics")
"""The keys that hold entries by name."""
_ROUNDS = 10
"""What one fault hides shows when it is taken out, level by level."""
_ENTRY = 2
"""The parts of an entry's place: its section and its name."""


def read_config(raw: Fields, files: Iterable[Path], faults: Faults) -> Config:
    """The configuration from merged YAML, as far as it is sound: what is wrong is noted, and taken
    out.

    Raises:
        UserError: so much is wrong that nothing is left to look at.
    """
    files = list(files)
    for file in files:
        for key, first, second in twice_given(file):
            faults.add(
                f"{file}: line {second}: {key}: given twice; line {first} has it, too. Remove one"
                " of them."
            )
    touched: set[Location] = set()

    def note(place: Location, problem: str) -> None:
        faults.add(f"{where(files, place)}: {problem}")
        touched.add(place)

    sound = plain_values(raw, note)
    for _ in range(_ROUNDS):
        try:
            return Config.model_validate(sound)
        except ValidationError as error:
            for fault in error.errors():
                place = location_of(fault)
                above = place[:_ENTRY] if fault["type"] == "missing" else place
                if not any(
                    below[: len(above)] == above for below in touched
                ):  # else it follows from what was taken out
                    faults.add(
                        fault_message(fault, where(files, place), place, keys_beside(Config, place))
                    )
                _take_out(sound, place, fault["type"] == "missing", faults)
                touched.add(place)
    faults.check()
    raise AssertionError("a fault is always noted")


def _take_out(sound: JsonObject, place: Location, missing: bool, faults: Faults) -> None:
    """Remove what is faulty: a key with a default, or else the entry that it belongs to."""
    if place == ("seed",):
        sound["seed"] = 0
    elif place[0] in _SECTIONS and len(place) == 1:
        faults.check()
    elif place[0] in _SECTIONS and (len(place) == _ENTRY or missing or place[0] == "rubrics"):
        sound[str(place[0])].pop(place[1], None)
        faults.broken.add(str(place[1]))
    else:
        node: Json = sound
        for part, below in pairwise(place):
            if not isinstance(node.get(part), dict) or below not in node[part]:
                break
            node = node[part]
        else:
            part = place[-1]
        node.pop(part, None)


def parse_config(raw: Fields, files: Iterable[Path] = ()) -> Config:
    """The configuration from merged YAML; raises `UserError` with a line for each mistake."""
    faults = Faults()
    config = read_config(raw, files, faults)
    faults.check()
    return config


def over_defaults(config: Fields, defaults: Iterable[Path]) -> JsonObject:
    """A configuration merged over those of some files, key by key, as Snakemake merges
    configuration files.
    """
    merged: JsonObject = {}
    for file in defaults:
        _merge(merged, load_yaml(file.read_text(encoding="utf-8")) or {})
    _merge(merged, config)
    return merged


def _merge(target: JsonObject, over: Fields) -> None:
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(target.get(key), dict):
            _merge(target[key], value)
        else:
            target[key] = deepcopy(value)
