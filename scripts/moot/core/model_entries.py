"""Entries under `models` from several files.

A user's entry that names a model is complete; any other entry changes moot's entry.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from moot.core.config_errors import Faults, describe_location, show_value
from moot.core.errors import unknown_name
from moot.core.model_values import check_variable
from moot.core.read_config import merge_over_defaults
from moot.core.types import Fields, JsonObject
from moot.core.yaml_text import load_yaml

_IDENTITY_KEYS = frozenset({"endpoint", "model"})
_SERVER_KEYS = ("base_url", "api_key_env")


class ModelEntries:
    """The entries under `models`, collected file by file.

    A user's entry that gives `endpoint` or `model` replaces moot's own entry of that name whole.
    One that gives neither changes it. `extends: NAME` takes the other keys from another entry, or
    from the earlier entry of the same name.

    Attributes:
        entries: the effective entries by name.
        inheritance_notes: a line for each entry that changes one of moot's, with the inherited
            values.
    """

    def __init__(self, files: Sequence[Path], shipped: Collection[Path], faults: Faults) -> None:
        self.entries: dict[str, Fields] = {}
        self.inheritance_notes: list[str] = []
        self._files = files
        self._replaceable: set[str] = set()
        self._faults = faults
        for file in files:
            file_entries = self.add(
                load_yaml(file.read_text(encoding="utf-8")), "" if file in shipped else str(file)
            )
            if file in shipped:
                self._replaceable |= file_entries.keys()

    def add(self, config: Fields | None, source: str) -> Mapping[str, Fields]:
        """Add the entries of a further file, or of the command line.

        `source` is the user's name for it.
        """
        models = config.get("models") if isinstance(config, Mapping) else None
        entries = models.items() if isinstance(models, Mapping) else ()
        file_entries = {str(name): entry for name, entry in entries if isinstance(entry, Mapping)}
        resolved_entries = {name: self._resolve_entry(name, file_entries) for name in file_entries}
        for name in file_entries.keys() & self._replaceable if source else ():
            if file_entries[name].keys() & {"extends", *_IDENTITY_KEYS}:
                self._replaceable.remove(name)
            else:
                inherited_values = [
                    f"{key} {show_value(value)}"
                    for key, value in self.entries[name].items()
                    if key not in file_entries[name]
                ]
                self.inheritance_notes.append(
                    f"{source}: models.{name} changes the entry that moot has; kept:"
                    f" {', '.join(inherited_values)}."
                )
        self.entries.update(resolved_entries)
        return file_entries

    def _resolve_entry(
        self, name: str, file_entries: Mapping[str, Fields], extending_names: tuple[str, ...] = ()
    ) -> Fields:
        """Return an entry with its inherited values.

        `extending_names` are the entries that extend this one.
        """
        entry, base = file_entries[name], self.entries.get(name, {})
        if "extends" in entry:
            base = self._resolve_base(
                name, str(entry["extends"]), file_entries, (*extending_names, name)
            )
        elif name in self._replaceable and _IDENTITY_KEYS & entry.keys():
            base = {}
        resolved_entry = {
            **base,
            **{key: value for key, value in entry.items() if key != "extends"},
        }
        self._check_key(name, entry, base, resolved_entry)
        return resolved_entry

    def _resolve_base(
        self,
        name: str,
        base_name: str,
        file_entries: Mapping[str, Fields],
        extending_names: tuple[str, ...],
    ) -> Fields:
        if base_name in file_entries and base_name not in extending_names:
            return self._resolve_entry(base_name, file_entries, extending_names)
        if base_name in self.entries:
            return self.entries[base_name]
        place = describe_location(self._files, ("models", name, "extends"))
        if base_name in extending_names:
            self._faults.add(
                f"{place}: found '{base_name}'; expected an entry that does not extend this one."
            )
        else:
            self._faults.add(
                str(
                    unknown_name("model", base_name, {*self.entries, *file_entries}, location=place)
                )
            )
        return {}

    def _check_key(self, name: str, entry: Fields, base: Fields, resolved_entry: Fields) -> None:
        """Note an entry whose key would go to the server that another entry names."""
        address, variable = (resolved_entry.get(key) for key in _SERVER_KEYS)
        own_keys = [key for key in _SERVER_KEYS if key in entry]
        if (
            len(own_keys) != 1
            or not address
            or not variable
            or entry[own_keys[0]] == base.get(own_keys[0])
        ):
            return
        # an invalid variable name may be a key; another check reports it
        with suppress(ValueError):
            place = describe_location(self._files, ("models", name, own_keys[0]))
            self._faults.add(
                f"{place}: the key in {check_variable(str(variable))} would go to "
                f"{show_value(address)}, since only one of `base_url` and `api_key_env` is given "
                "here, and the other comes from another entry. Write both here, or rename the "
                "model."
            )


def entries_of_command_line(config: Fields, files: Iterable[Path]) -> JsonObject:
    """Return the keys of entries that `--config` gives.

    The merged configuration has them with values that are not in its files.
    """
    merged_models, file_models = (
        source.get("models") for source in (config, merge_over_defaults({}, files))
    )
    entries = merged_models.items() if isinstance(merged_models, Mapping) else ()
    in_files = file_models if isinstance(file_models, Mapping) else {}
    changed_entries: JsonObject = {}
    for name, entry in entries:
        file_entry = in_files.get(name)
        if isinstance(entry, Mapping) and isinstance(file_entry, Mapping):
            changed_entries[name] = {
                key: value
                for key, value in entry.items()
                if key not in file_entry or file_entry[key] != value
            }
        elif entry != file_entry:
            changed_entries[name] = entry
    return {"models": {name: entry for name, entry in changed_entries.items() if entry}}


def merge_models(
    config: JsonObject,
    files: Sequence[Path],
    shipped: Collection[Path],
    command_line_config: Fields,
    faults: Faults,
) -> list[str]:
    """Set `models` of a merged configuration to the effective entries; return notes on inheritance.

    Args:
        config: the configuration that Snakemake merged, key by key.
        files: the files that it was merged from, in order.
        shipped: the files that moot ships.
        command_line_config: the configuration from the command line, or from a workflow that uses
            moot as a module.
        faults: receives the faults: an entry extends an unknown one, or would send a key to another
            entry's server.
    """
    models = ModelEntries(files, shipped, faults)
    models.add(command_line_config, "--config")
    if isinstance(config.get("models"), Mapping):
        config["models"] = {**config["models"], **models.entries}
    return models.inheritance_notes
