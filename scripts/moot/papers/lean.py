"""The lean design of items: the paper's design without the calls that the items do not show.

An item in `data/published/items.yaml` states its own lean design. Items that share an experiment
leave out only what none of them needs.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy

from moot.core.errors import UserError
from moot.core.types import Fields, JsonObject
from moot.papers.items import PaperItem

LEAN = "lean"
LEAN_KEYS = ("models", "cases", "repeats", "labelers", "params")
"""The experiment's keys that a lean design may replace."""
SIZES = ("models", "cases")
"""Those of the lean keys that do not change single debates."""


def check_lean_design(item: PaperItem, design: Fields) -> None:
    """Check that the lean design of an item replaces keys that a design has.

    Raises:
        UserError: An experiment or a key does not exist.
    """
    for name, overrides in item.lean.items():
        if name not in design["experiments"]:
            raise UserError(
                f"data/published/items.yaml: item {item.name}: `lean`: experiment '{name}' has no"
                " design."
            )
        unknown_keys = set(overrides or ()) - set(LEAN_KEYS)
        if unknown_keys:
            raise UserError(
                f"data/published/items.yaml: item {item.name}: `lean`: found"
                f" {', '.join(sorted(unknown_keys))}, expected some of {', '.join(LEAN_KEYS)}."
            )


def lean_experiments(
    experiments: Mapping[str, Fields], sharing: Mapping[str, Sequence[PaperItem]]
) -> dict[str, JsonObject]:
    """Return the lean designs of experiments, without those that no item needs.

    Args:
        experiments: The papers' designs by name.
        sharing: The items that need each experiment.
    """
    designs: dict[str, JsonObject] = {}
    for name, items in sharing.items():
        entries = [item.lean.get(name, {}) for item in items]
        overrides = [dict(entry) for entry in entries if entry is not None]
        if overrides:
            designs[name] = _override(experiments[name], _join_overrides(overrides))
    return designs


def apply_lean_settings(config: JsonObject, items: Iterable[PaperItem]) -> None:
    """Apply to the papers' experiments the changes that lean designs make to each debate.

    Their models and cases stay.

    Their models and cases stay.
    """
    overrides: dict[str, list[JsonObject]] = {}
    for item in items:
        for name, override in item.lean.items():
            settings = {key: value for key, value in (override or {}).items() if key not in SIZES}
            if settings:
                overrides.setdefault(name, []).append(settings)
    for name, settings_of_items in overrides.items():
        design = config["experiments"][name]
        config["experiments"][name] = _override(design, _join_overrides(settings_of_items))


def _join_overrides(overrides: Sequence[Fields]) -> JsonObject:
    """Return the overrides on which all items that need an experiment agree.

    All models of the items are taken, and the largest number of cases and repeats.
    """
    override_of_all: JsonObject = {}
    for key in LEAN_KEYS:
        values = [override[key] for override in overrides if key in override]
        if len(values) < len(overrides):
            continue
        if key == "models":
            override_of_all[key] = _unique_names(values)
        elif key in ("cases", "repeats"):
            override_of_all[key] = max(values)
        elif key == "params":
            override_of_all[key] = _shared_entries(values)
        elif all(value == values[0] for value in values):
            override_of_all[key] = values[0]
    return override_of_all


def _unique_names(lists: Iterable[Iterable[str]]) -> list[str]:
    names: dict[str, None] = {}
    for entries in lists:
        names |= dict.fromkeys(entries)
    return list(names)


def _shared_entries(mappings: Sequence[Fields]) -> JsonObject:
    """Return the entries that all mappings have with the same value."""
    shared: JsonObject = {}
    for name, value in mappings[0].items():
        if all(name in mapping and mapping[name] == value for mapping in mappings):
            shared[name] = value
    return shared


def _override(design: Fields, overrides: Fields) -> JsonObject:
    """Return a design with some keys replaced; `params` are merged."""
    entry: JsonObject = deepcopy(dict(design))
    params = {**(entry.get("params") or {}), **overrides.get("params", {})}
    entry |= deepcopy(dict(overrides))
    if params:
        entry["params"] = params
    return entry
