"""A valid configuration, and files that change it, merged as Snakemake merges them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.model_entries import merge_models
from moot.core.read_config import merge_over_defaults
from moot.core.types import JsonObject
from moot.core.yaml_text import load_yaml

DATA = Path(__file__).resolve().parents[1] / "data"
VALID_CONFIGURATION = """\
seed: 1
models:
  small: {model: gpt, base_url: "http://localhost:1/v1"}
  other: {model: gpt, base_url: "http://localhost:2/v1"}
datasets:
  people: {loader: nlsy97, source: synthetic}
experiments:
  trial: {protocol: courtroom, dataset: people, models: [small, other]}
"""


def entries_of(file: str) -> dict[str, dict[str, Any]]:
    """Return the changes that a file of the tests' data lists, by their names."""
    entries: dict[str, dict[str, Any]] = load_yaml((DATA / file).read_text("utf-8"))
    return entries


def write_entry(entry: dict[str, Any]) -> str:
    """Return the text of the user's file; a change of one entry is on its third line."""
    for section, name in (("model", "small"), ("experiment", "trial")):
        if section in entry:
            change = str(entry[section])
            is_whole = change.startswith("{") or "\\" in change
            body = change if is_whole else f"{{{change}}}"
            return f"{section}s:\n  {name}:\n    {body}\n"
    return str(entry["yaml"]) + "\n"


def merge_changes(folder: Path, *changes: str) -> tuple[JsonObject, list[Path], Faults]:
    """Return the merged configuration, its files (my.yaml, my1.yaml and so on), and faults."""
    files = [folder / "good.yaml"]
    files += [folder / f"my{number or ''}.yaml" for number in range(len(changes))]
    for file, text in zip(files, (VALID_CONFIGURATION, *changes), strict=True):
        file.write_text(text, encoding="utf-8")
    config, faults = merge_over_defaults({}, files), Faults()
    merge_models(config, files, [], {}, faults)
    return config, files, faults


def check_refusal(read: Callable[[Path, str], object], folder: Path, entry: dict[str, Any]) -> None:
    """Require one line that names the user's file and has an entry's words."""
    with pytest.raises(UserError) as caught:
        read(folder, write_entry(entry))
    message = str(caught.value)
    assert message.startswith(f"{folder}/my.yaml: "), message
    assert "\n" not in message, "one mistake, one line"
    for words in entry["says"]:
        assert words in message, message
    if "hides" in entry:
        assert entry["hides"] not in message
