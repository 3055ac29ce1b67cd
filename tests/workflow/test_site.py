"""The site: built without a warning, whole, and without anything from a network."""

import json
import re
from pathlib import Path

import pytest

from built_site import build_site
from moot.protocols import PROTOCOLS
from project_copy import PROJECT

pytest.importorskip("material", reason="the extra 'site' is not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build_site(folder)
    return folder


def test_every_page_is_on_it_and_can_be_searched(site: Path) -> None:
    index = json.loads((site / "search/search_index.js").read_text().partition("=")[2].rstrip("; \n"))
    pages = {entry["location"].partition("#")[0] for entry in index["docs"]}
    written = {path.stem for path in PROJECT.glob("docs/*.md")} - {"README"}
    studies = {f"studies/{path.parent.name}.html" for path in PROJECT.glob("scripts/moot/studies/*/README.md")}
    assert {f"{name}.html" for name in written} | studies | {"index.html", "configuration.html"} <= pages
    protocols = (site / "reference/protocols.html").read_text()
    assert all(f'id="{name}"' in protocols for name in PROTOCOLS)


def test_nothing_is_fetched_from_a_network(site: Path) -> None:
    for page in site.rglob("*.html"):
        fetched = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"?(https?:[^\s\">]*)", page.read_text())
        assert fetched == [], page
