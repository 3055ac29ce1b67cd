"""The site, built without a warning from a copy of the project with results.

It is whole, and takes nothing from a network.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.protocols import PROTOCOLS
from project_copy import PROJECT, copy_project

pytest.importorskip("material", reason="the extra 'site' is not installed")
pytestmark = pytest.mark.slow

PAGES = ("README.md", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", "mkdocs.yml")
READMES = ("benchmarks/README.md", "data/raw/README.md", "data/recording/README.md")
RESULTS = (
    "index.html",
    "recorded.html",
    "tables/recorded/methods.html",
    "figures/recorded/nyu_beliefs.svg",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("project")
    copy_project(project)
    for name in (*PAGES, *READMES):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, project / name)
    shutil.copytree(PROJECT / "packaging", project / "packaging")
    for name in RESULTS:
        path = project / "results" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("<p>built</p>")
    folder = tmp_path_factory.mktemp("site")
    process = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=project,
        env={"PYTHONPATH": str(PROJECT / "scripts"), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return folder


def test_every_page_is_on_it_and_can_be_searched(site: Path) -> None:
    index = json.loads(
        (site / "search/search_index.js").read_text().partition("=")[2].rstrip("; \n")
    )
    pages = {entry["location"].partition("#")[0] for entry in index["docs"]}
    page_names = {path.stem for path in PROJECT.glob("docs/*.md")} - {"README"}
    readmes = [
        *PROJECT.glob("scripts/moot/studies/*/README.md"),
        *PROJECT.glob("scripts/moot/analyses/*/README.md"),
    ]
    studies = {f"{path.parent.parent.name}/{path.parent.name}.html" for path in readmes}
    assert {f"{name}.html" for name in page_names} | studies | {
        "index.html",
        "configuration.html",
    } <= pages
    protocols = (site / "reference/protocols.html").read_text()
    assert all(f'id="{name}"' in protocols for name in PROTOCOLS)


def test_nothing_is_fetched_from_a_network(site: Path) -> None:
    for page in site.rglob("*.html"):
        fetched = re.findall(
            r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"?(https?:[^\s\">]*)",
            page.read_text(),
        )
        assert fetched == [], page


def test_the_page_links_the_files_of_the_run(site: Path) -> None:
    home, study = (site / name for name in ("index.html", "studies/recorded.html"))
    linked_paths = re.findall(
        r'(?:href|src)="?(?:\.\./)?(demo/[^" >#]+)', home.read_text() + study.read_text()
    )
    assert {"demo/index.html", "demo/recorded.html", "demo/tables/recorded/methods.html"} < {
        *linked_paths
    }
    assert "<iframe src=../demo/index.html#recorded" in study.read_text().replace('"', "")
    assert all((site / name).is_file() for name in linked_paths)


def test_search_finds_a_page_from_a_file(browser: Any, site: Path) -> None:
    page = browser.new_page()
    page.goto((site / "reference/protocols.html").as_uri())
    page.click("[data-md-component=search-query]")
    page.keyboard.type("rejudge")
    page.wait_for_selector(".md-search-result__link")
    assert "reference/protocols.html" in page.locator(
        ".md-search-result__link"
    ).first.get_attribute("href")
    page.close()
