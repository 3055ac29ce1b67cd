"""The papers' pages at the top of a run's first page."""

from pathlib import Path

import pytest

from front_page_results import STUDIES, built_files, results_with_questions
from moot.report.front_page import write_front_page

HOSTILE = "<b>Triem</b> & others"


@pytest.mark.parametrize("count", [0, 1, 4])
def test_built_pages_of_papers_are_linked_before_all_questions(tmp_path: Path, count: int) -> None:
    root = results_with_questions(tmp_path)
    papers = {f"papers/p{number}.html": f"{HOSTILE} {number}" for number in range(count)}
    built = list(built_files(root))
    for name in papers:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("", encoding="utf-8")
        built.append(root / name)
    papers |= {"papers/missing.html": "not built"}
    pages = {name: root / f"{name}.html" for name in ("page", "questions")}
    write_front_page(root, "comparison", built, pages, STUDIES, papers=papers)
    text = pages["page"].read_text(encoding="utf-8")
    assert "<b>Triem" not in text
    assert "papers/missing.html" not in text
    questions = text.index('id="questions"')
    for name in list(papers)[:count]:
        assert 0 < text.index(f'href="{name}"') < questions
