"""Test that every configuration on a page is valid on top of the default configuration."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from in_process import default_configuration
from moot.plan.plan import Plan
from project_copy import PROJECT, documented_pages

TESTED_PAGES = {"docs/extending.md", "docs/recipes.md"}
"""Pages whose configurations other tests run."""
SERVED_MODEL = {"endpoint": "openai", "model": "m", "base_url": "http://localhost:1/v1"}
READER_MODELS = dict.fromkeys(("mine", "another"), SERVED_MODEL)
"""Models that a reader of the pages configures."""


def configuration_blocks() -> Iterator[Any]:
    """Yield the YAML blocks of the pages that are configurations, as parameters of a test."""
    for page in (*documented_pages(), "config/README.md"):
        if page in TESTED_PAGES:
            continue
        for block in YAML_BLOCK.finditer((PROJECT / page).read_text("utf-8")):
            if {"models", "datasets", "experiments"} & set(yaml.safe_load(block[1])):
                yield pytest.param(block[1], id=f"{page}:{block.start()}")


YAML_BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCKS = list(configuration_blocks())


@pytest.mark.parametrize("text", BLOCKS)
def test_every_configuration_on_a_page_is_valid(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    configuration = yaml.safe_load(text)
    configuration["models"] = READER_MODELS | configuration.get("models", {})
    assert Plan.from_yaml(default_configuration(configuration), PROJECT).experiments
