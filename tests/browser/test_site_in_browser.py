"""Test the search of the site, opened from a file without a server."""

from pathlib import Path
from typing import Any

import pytest

from built_site import build_site

pytest.importorskip("material", reason="the extra 'site' is not installed")
pytestmark = pytest.mark.slow


def test_search_finds_a_page_from_a_file(browser: Any, tmp_path: Path) -> None:
    build_site(tmp_path)
    page = browser.new_page()
    page.goto((tmp_path / "reference/protocols.html").as_uri())
    page.click("[data-md-component=search-query]")
    page.keyboard.type("rejudge")
    page.wait_for_selector(".md-search-result__link")
    assert "reference/protocols.html" in page.locator(
        ".md-search-result__link"
    ).first.get_attribute("href")
    page.close()
