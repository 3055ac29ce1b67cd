"""Entries under `models` from several files: a user's entry that names a model is whole, another
one changes moot's.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from moot.core.errors import unknown_name
from moot.core.model_values import check_variable
from moot.core.places import Faults, shown, where
from moot.core.read_config import over_defaults
from moot.core.types import Fields, JsonObject
from moot.core.yaml_text import load_yaml

_NAMES_A_MODEL = frozenset({"endpoint", "model"})
_BELONG_TOGETHER = ("base_url", "api_key_env")


class ModelEntries:
    """The entries under `models`, file after file.

    A user's entry that gives `endpoint` or `model` replaces moot's own entry of that name whole.
    One that gives neither changes it. `extends: NAME` takes the rest from another entry, or from
    the earlier one of its own name.

    Attributes:
        entries: the entries by name, as they count.
        kept: a line for each entry that changes one of moot's, with what it kept.
    """

    def __init__(self, files: Sequence[Path], shipped: Collection[Path], faults: Faults) -> None:
        self.entries: dict[str, Fields] = {}
        self.kept: list[str] = []
        self._files = files
        self._replaceable: set[str] = set()
        self._faults = faults
        for file in files:
            given = self.add(
                load_yaml(file.read_text(encoding="utf-8")), "" if file in shipped else str(file)
            )
            if file in shipped:
                self._replaceable |= given.keys()

    def add(self, config: Fields | None, source: str) -> Mapping[str, Fields]:
        """Take in the entries of one more file, or of the command line;
        `source` is what a user calls it.
        """
        models = config.get("models") if isinstance(config, Mapping) else None
        entries = models.items() if isinstance(models, Mapping) else ()
        given = {str(name): entry for name, entry in entries if isinstance(entry, Mapping)}
        whole = {name: self._whole(name, given) for name in given}
        for name in given.keys() & self._replaceable if source else ():
            if given[name].keys() & {"extends", *_NAMES_A_MODEL}:
                self._replaceable.remove(name)
            else:
                kept = [
                    f"{key} {shown(value)}"
                    for key, value in self.entries[name].items()
                    if key not in given[name]
                ]
                self.kept.append(
                    f"{source}: models.{name} changes the entry that moot has; kept:"
                    f" {', '.join(kept)}."
                )
        self.entries.update(whole)
        return given

    def _whole(self, name: str, given: Mapping[str, Fields], above: tuple[str, ...] = ()) -> Fields:
        """An entry with what it takes from others; `above` are the entries that extend this one."""
        entry, base = given[name], self.entries.get(name, {})
        if "extends" in entry:
            base = self._extended(name, str(entry["extends"]), given, (*above, name))
        elif name in self._replaceable and _NAMES_A_MODEL & entry.keys():
            base = {}
        whole = {**base, **{key: value for key, value in entry.items() if key != "extends"}}
        self._check_key(name, entry, base, whole)
        return whole

    def _extended(
        self, name: str, extended: str, given: Mapping[str, Fields], above: tuple[str, ...]
    ) -> Fields:
        if extended in given and extended not in above:
            return self._whole(extended, given, above)
        if extended in self.entries:
            return self.entries[extended]
        place = where(self._files, ("models", name, "extends"))
        if extended in above:
            self._faults.add(
                f"{place}: found '{extended}'; expected an entry that does not extend this one."
            )
        else:
            self._faults.add(
                str(unknown_name("model", extended, {*self.entries, *given}, where=place))
            )
        return {}

    def _check_key(self, name: str, entry: Fields, base: Fields, whole: Fields) -> None:
        """Note where the key of one entry would go to the server that another one names."""
        address, variable = (whole.get(key) for key in _BELONG_TOGETHER)
        own = [key for key in _BELONG_TOGETHER if key in entry]
        if len(own) != 1 or not address or not variable or entry[own[0]] == base.get(own[0]):
            return
        with suppress(
            ValueError
        ):  # what is no variable's name may be a key, and is said to be wrong elsewhere
            place = where(self._files, ("models", name, own[0]))
            self._faults.add(
                f"{place}: the key in {check_variable(str(variable))} would go to {shown(address)},"
                " since one of `base_url` and `api_key_env` is given here, and the other is of"
                " another entry. Write both here, or give the model another name."
            )


def given_beside(config: Fields, files: Iterable[Path]) -> JsonObject:
    """The keys of entries that a merged configuration has otherwise than its files: those that
    `--config` gives.
    """
    merged, known = (source.get("models") for source in (config, over_defaults({}, files)))
    entries = merged.items() if isinstance(merged, Mapping) else ()
    in_files = known if isinstance(known, Mapping) else {}
    given: JsonObject = {}
    for name, entry in entries:
        before = in_files.get(name)
        if isinstance(entry, Mapping) and isinstance(before, Mapping):
            given[name] = {
                key: value
                for key, value in entry.items()
                if key not in before or before[key] != value
            }
        elif entry != before:
            given[name] = entry
    return {"models": {name: entry for name, entry in given.items() if entry}}


def merge_models(
    config: JsonObject,
    files: Sequence[Path],
    shipped: Collection[Path],
    given: Fields,
    faults: Faults,
) -> list[str]:
    """Set `models` of a merged configuration to the entries as they count; lines on those that
    change one of moot's.

    Args:
        config: the configuration that Snakemake merged, key by key.
        files: the files that it was merged from, in order.
        shipped: those of them that are moot's own.
        given: what came from the command line, or from a workflow that uses moot as a module.
        faults: an entry that extends what is not there, or would send a key to another entry's
            server, is noted here.
    """
    models = ModelEntries(files, shipped, faults)
    models.add(given, "--config")
    if isinstance(config.get("models"), Mapping):
        config["models"] = {**config["models"], **models.entries}
    return models.kept
