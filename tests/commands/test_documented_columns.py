"""The page of options documents every key of each loader."""

import re
from pathlib import Path

import pytest

from moot.commands.registered import describe_registered
from moot.datasets import LOADERS

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("loader", ["transcripts", "table", "opinions"])
def test_every_option_of_a_loader_is_in_its_table(loader: str) -> None:
    page = (PROJECT / "docs/reference.md").read_text(encoding="utf-8")
    section = re.split(r"\n##? ", page.partition(f"\n### {loader}\n")[2])[0]
    section = re.split(r"\n### ", section)[0]
    common = describe_registered().partition("Every data set takes:")[2].partition("###")[0]
    for name, field in LOADERS[loader].options.model_fields.items():
        assert f"| `{name}` |" in section or f"| `{name}` |" in common, name
        assert field.description
