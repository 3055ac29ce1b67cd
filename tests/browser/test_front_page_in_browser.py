"""Test the questions and answers of a run in a browser: our page and Snakemake's report.

Slow: only this test detects an answer that a browser does not show.
"""

from pathlib import Path
from typing import Any

import pytest

import forks
from browser_pages import violations
from front_page_results import STUDIES, built_files, results_with_questions
from moot.report.front_page import write_front_page

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]
SNAKEFILE = """
report: "{description}"
rule all:
    output:
        report(
            "results/outcome/index_questions.html",
            category="Outcome",
            labels={{"study": "questions"}},
        )
    shell: "false"
"""
QUESTIONS = 12
HEIGHT = 900
FIND_CUT_BLOCKS = """() => [...document.querySelectorAll('.verdict')].filter(block => {
    const box = block.getBoundingClientRect()
    const around = block.closest('.overflow-auto, body').getBoundingClientRect()
    const isCut = block.scrollWidth > block.clientWidth
    return box.left < around.left || box.right > around.right || isCut
}).map(block => block.textContent)"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the addresses of a front page and of a Snakemake report with its questions."""
    folder = tmp_path_factory.mktemp("run")
    root = results_with_questions(folder / "results", questions=QUESTIONS)
    (root / "outcome").mkdir()
    paths = {"page": root / "index.html", "questions": root / "outcome" / "index_questions.html"}
    write_front_page(root, "comparison", built_files(root), paths, STUDIES)
    description = PROJECT / "docs" / "captions" / "report.rst"
    (folder / "Snakefile").write_text(SNAKEFILE.format(description=description))
    command = "-m", "snakemake", "--cores", "1"
    touch = forks.run(*command, "--touch", cwd=folder)
    report = forks.run(*command, "--report", "report.html", cwd=folder)
    assert report.returncode == 0, touch.stdout + report.stdout
    return {"page": paths["page"].as_uri(), "report": (folder / "report.html").as_uri()}


@pytest.mark.parametrize("width", [1000, 1920])
@pytest.mark.parametrize("name", ["page", "report"])
def test_the_first_heading_is_at_the_top_and_all_answers_are_visible(
    open_pages: Any, pages: dict[str, str], name: str, width: int
) -> None:
    page = open_pages({"width": width, "height": HEIGHT})
    page.goto(pages[name])
    first = {"page": "What this run says", "report": "Questions and answers"}[name]
    heading = page.get_by_role("heading", name=first)
    heading.wait_for()
    assert 0 <= heading.bounding_box()["y"] < 250
    questions = page.get_by_role("heading", name="Questions and answers")
    assert questions.bounding_box()["y"] < HEIGHT / 2
    assert page.locator(".verdict").count() == QUESTIONS
    assert page.evaluate(FIND_CUT_BLOCKS) == []


def test_axe_finds_nothing_in_the_front_page(
    open_pages: Any, axe: str, pages: dict[str, str], size: dict[str, int]
) -> None:
    page = open_pages(size)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(pages["page"])
        page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
        assert violations(page, axe) == []
