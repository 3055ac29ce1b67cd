"""Reading the configuration: merging files, and reporting all faults at once."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from itertools import pairwise
from pathlib import Path

from pydantic import ValidationError

from moot.core.config import Config
from moot.core.config_errors import (
    Faults,
    Location,
    copy_plain_values,
    describe_location,
    fault_message,
    location_of,
    sibling_keys,
)
from moot.core.shipped_files import SHIPPED, default_files
from moot.core.types import Fields, Json, JsonObject
from moot.core.yaml_text import find_misread, load_yaml

_SECTIONS = ("models", "datasets", "experiments", "contrasts", "rubrics")
"""The keys that hold entries by name."""
_MAX_ROUNDS = 10
"""Maximum number of rounds: removing one fault reveals the next, level by level."""
_ENTRY_DEPTH = 2
"""The length of an entry's path: its section and its name."""


def read_config(raw: Fields, files: Iterable[Path], faults: Faults) -> Config:
    """Read the configuration from merged YAML; note faults, and remove the faulty parts.

    Raises:
        UserError: the faults leave nothing to check.
    """
    files = list(files)
    for file in files:
        for sentence in find_misread(file.read_text(encoding="utf-8")):
            faults.add(f"{file}: {sentence}")
    touched: set[Location] = set()

    def note(place: Location, problem: str) -> None:
        faults.add(f"{describe_location(files, place)}: {problem}")
        touched.add(place)

    sound = copy_plain_values(raw, note)
    for _ in range(_MAX_ROUNDS):
        try:
            return Config.model_validate(sound)
        except ValidationError as error:
            for fault in error.errors():
                place = location_of(fault)
                faulty_place = place[:_ENTRY_DEPTH] if fault["type"] == "missing" else place
                # otherwise it is a consequence of a removed part
                if not any(
                    touched_place[: len(faulty_place)] == faulty_place for touched_place in touched
                ):
                    faults.add(
                        fault_message(
                            fault,
                            describe_location(files, place),
                            place,
                            sibling_keys(Config, place),
                        )
                    )
                _remove_fault(sound, place, fault["type"] == "missing", faults)
                touched.add(place)
    faults.check()
    raise AssertionError("a fault is always noted")


def _remove_fault(sound: JsonObject, place: Location, is_missing: bool, faults: Faults) -> None:
    """Remove the faulty part: a key with a default, or else the entry that it belongs to."""
    if place == ("seed",):
        sound["seed"] = 0
    elif place[0] in _SECTIONS and len(place) == 1:
        faults.check()
    elif place[0] in _SECTIONS and (
        len(place) == _ENTRY_DEPTH or is_missing or place[0] == "rubrics"
    ):
        sound[str(place[0])].pop(place[1], None)
        faults.broken.add(str(place[1]))
    else:
        node: Json = sound
        for part, child_key in pairwise(place):
            if not isinstance(node.get(part), dict) or child_key not in node[part]:
                break
            node = node[part]
        else:
            part = place[-1]
        node.pop(part, None)


def parse_config(raw: Fields, files: Iterable[Path] = ()) -> Config:
    """Read the configuration from merged YAML; raise `UserError` with a line for each fault."""
    faults = Faults()
    config = read_config(raw, files, faults)
    faults.check()
    return config


def default_config(shipped: Path = SHIPPED) -> JsonObject:
    """Return the default configuration; `shipped` is the project's folder."""
    return merge_over_defaults({}, default_files(shipped))


def merge_over_defaults(config: Fields, defaults: Iterable[Path]) -> JsonObject:
    """Merge a configuration over the content of some files, key by key, as Snakemake does."""
    merged_config: JsonObject = {}
    for file in defaults:
        _merge(merged_config, load_yaml(file.read_text(encoding="utf-8")) or {})
    _merge(merged_config, config)
    return merged_config


def _merge(target: JsonObject, over: Fields) -> None:
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(target.get(key), dict):
            _merge(target[key], value)
        else:
            target[key] = deepcopy(value)
