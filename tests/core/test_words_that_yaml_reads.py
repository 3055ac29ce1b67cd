"""Words such as NO and yes, which YAML reads as truth values: the advice works when followed."""

from pathlib import Path

import pytest
import yaml

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.read_config import read_config

WORDS = ["NO", "yes", "Off", "TRUE"]
CONFIGURATION = """run: [x]
seed: 1
models: {{m: {{model: m, base_url: 'http://127.0.0.1:9/v1'}}}}
datasets:
  people:
    loader: table
    path: people.csv
    labels:
      {first}: {meaning}
      {second}: other
experiments: {{}}
"""


def faults_of(path: Path, text: str) -> str:
    """The message about a configuration; "" if its keys and values are text where they must be."""
    path.write_text(text)
    faults = Faults()
    try:
        read_config(yaml.safe_load(text), [path], faults)
        faults.check()
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("word", WORDS)
def test_a_key_that_yaml_reads_as_a_truth_value_is_named(tmp_path: Path, word: str) -> None:
    text = CONFIGURATION.format(first=word, second="MAYBE", meaning="x")
    value = yaml.safe_load(word)
    message = faults_of(tmp_path / "my.yaml", text)
    assert f"my.yaml: datasets.people.labels.{value}: found the key {value}, as YAML" in message
    assert faults_of(tmp_path / "my.yaml", text.replace(f"{word}:", f"'{word}':", 1)) == ""


def test_both_keys_of_a_pair_are_named(tmp_path: Path) -> None:
    text = CONFIGURATION.format(first="NO", second="on", meaning="no")
    first, second = faults_of(tmp_path / "my.yaml", text).splitlines()
    assert "found the key False" in first and "Quote its value, too." in first
    assert "found the key True" in second and "Quote its value, too." not in second


@pytest.mark.parametrize("word", ["no", "YES", "Off"])
def test_a_value_gets_the_same_advice(tmp_path: Path, word: str) -> None:
    text = f"seed: 1\nledger: {word}\n"
    message = faults_of(tmp_path / "my.yaml", text)
    assert f"ledger: found {yaml.safe_load(word)}, as YAML reads" in message
    assert "Quote it as you wrote it" in message
