"""A mistake in a key of the configuration is reported in one line, with file and key."""

from pathlib import Path

import pytest

from changed_configurations import check_refusal, entries_of, merge_changes
from messages import refusal
from moot.core.config import Config
from moot.core.config_errors import Faults
from moot.core.errors import UserError, unknown_name
from moot.core.read_config import read_config

INVALID_ENTRIES = entries_of("bad_configurations.yaml")


def read_changes(folder: Path, *changes: str) -> Config:
    """Read the valid configuration with changes."""
    config, files, faults = merge_changes(folder, *changes)
    read = read_config(config, files, faults)
    faults.check()
    return read


@pytest.mark.parametrize("mistake", INVALID_ENTRIES)
def test_a_bad_configuration_is_refused_with_file_and_key(
    mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_refusal(read_changes, tmp_path, INVALID_ENTRIES[mistake])


def test_a_broken_entry_is_left_out_and_a_broken_key_has_its_default(tmp_path: Path) -> None:
    models = "third: {endpoint: openai}, Fourth: {model: x}, other: {cutoff: '2024-06-30'}"
    config, files, faults = merge_changes(tmp_path, f"models: {{{models}}}\nshards: 0")
    read = read_config(config, files, faults)
    assert list(read.models) == ["small", "other"] and faults.broken == {"third", "Fourth"}
    assert read.models["other"].cutoff == "2024-06-30" and read.shards == 1


def test_references_to_a_broken_entry_are_no_further_faults() -> None:
    faults = Faults()
    faults.broken.add("trial")
    for name in ("trial", "trial/model", "trial-cases=3", "tri*", "trials", "other"):
        with faults.noting():
            raise unknown_name("experiment", name, [])
    with faults.noting():
        raise UserError("trial is wrong")
    further_faults = Faults()
    further_faults.add_all(faults)
    unknown = [f"unknown experiment '{name}'. Known: ." for name in ("trials", "other")]
    assert further_faults.messages == [*unknown, "trial is wrong"]
    assert further_faults.text == "\n".join(further_faults.messages) and faults.count == 10


VALID_CHANGES = [
    (
        "models: {small: {parameters: {top_p: 0.9, reasoning_effort: low, stop: [END],"
        " chat_template_kwargs: {thinking: false}}}}"
    ),
    "models: {small: {endpoint: ollama, base_url: 'localhost:11434', parameters: {top_k: 5}}}",
    "models: {small: {base_url: 'https://[::1]:8443/v1/', api_key_env: MY_KEY_2}}",
    (
        "models: {small: {base_url: 'http://my_host.example:80', api_key_env:"
        " my_long_openai_api_key_number_2}}"
    ),
    "models: {small: {served_as: 'http://user:pw@old/v1'}, other: {served_as: null}}",
    "models: {small: &entry {model: a, base_url: 'http://a/v1'}, other: {<<: *entry, model: b}}",
]


@pytest.mark.parametrize("change", VALID_CHANGES)
def test_a_valid_configuration_is_accepted(change: str, tmp_path: Path) -> None:
    read_changes(tmp_path, change)


def test_a_key_is_not_sent_to_the_server_of_another_files_entry(tmp_path: Path) -> None:
    first = (
        "models: {mistral: {endpoint: ollama, model: 'mistral:7b', base_url:"
        " 'http://localhost:11434'}}"
    )
    own_entry = "models:\n  mistral:\n    endpoint: openai\n    api_key_env: MISTRAL_API_KEY\n"
    with refusal():
        read_changes(tmp_path, first, own_entry)
    read_changes(tmp_path, first, own_entry + "    base_url: https://api.mistral.ai/v1\n")
    paid_entry = "models: {paid: {model: gpt-4o, api_key_env: PAID, base_url: 'https://paid/v1'}}"
    with refusal():
        read_changes(tmp_path, paid_entry, "models: {paid: {base_url: 'http://x/v1'}}")
