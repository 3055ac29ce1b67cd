"""Every configuration that a page shows is one: laid over the default one it names what
there is.
"""

import re
from pathlib import Path

import pytest
import yaml

from in_process import default_configuration
from moot.commands.documented import documented_pages
from moot.plan.plan import Plan
from project_copy import PROJECT

WALKED = {"docs/extending.md", "docs/recipes.md"}
"""Pages whose files are run by other tests."""
SERVED = {"endpoint": "openai", "model": "m", "base_url": "http://localhost:1/v1"}
READERS_OWN = dict.fromkeys(("mine", "another"), SERVED)
"""Models that pages leave to the reader."""
BLOCKS = [
    pytest.param(found[1], id=f"{page}:{found.start()}")
    for page in (*documented_pages(PROJECT), "config/README.md")
    if page not in WALKED
    for found in re.finditer(
        r"^```yaml\n(.*?)^```", (PROJECT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    if {"models", "datasets", "experiments"} & set(yaml.safe_load(found[1]))
]


@pytest.mark.parametrize("written", BLOCKS)
def test_every_configuration_on_a_page_is_one(
    written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = yaml.safe_load(written)
    shown["models"] = READERS_OWN | shown.get("models", {})
    assert Plan.from_yaml(default_configuration(shown), PROJECT).experiments
