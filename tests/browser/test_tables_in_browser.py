"""Test that a wide table shows the verdict, and all columns after one click.

Slow: only this test detects a column that a browser does not show.
"""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from browser_pages import violations
from moot.overview.tables_contrasts import COLUMNS
from moot.report.content import Table
from moot.report.study_results import StudyResults
from moot.report.tables import write_table
from moot.scores import no_scores

pytestmark = pytest.mark.slow

ROW = {
    "study": "recorded",
    "contrast": "debate-or-vote",
    "question": "Is a debate right more often than a vote? " * 4,
    "first": "recorded-debate/gemini-2.5-flash-recorded",
    "second": "recorded-vote/gemini-2.5-flash-recorded",
    "metric": "accuracy, invalid = wrong",
    "expected": "first higher",
    "first value": (0.5, 0.4, 0.1, -0.02, 0.22, 0.1),
    "p (Holm)": (0.2, 2, 100, 100),
    "speaks of": "cases like these",
    "answer": "cannot tell",
}
IS_WIDER_THAN_BOX = (
    "() => { const box = document.querySelector('.scroll'); return box.scrollWidth >"
    " box.clientWidth }"
)


@pytest.fixture
def address(tmp_path: Path) -> str:
    """Return the address of a table of planned comparisons with all its columns."""
    entry = Table(
        "recorded",
        "contrasts",
        "Planned comparisons",
        "Caption",
        lambda _: COLUMNS.table([ROW, ROW]),
    )
    write_table(
        entry,
        StudyResults("recorded", {}, no_scores(), {}, pd.DataFrame()),
        {"html": tmp_path / "contrasts.html"},
    )
    return (tmp_path / "contrasts.html").as_uri()


def test_the_verdict_is_visible_and_all_columns_can_be_shown(open_pages: Any, address: str) -> None:
    page = open_pages()
    page.goto(address)
    heads = page.locator("th:visible")
    assert heads.all_inner_texts()[-1] == "answer" and heads.count() == 6
    assert not page.evaluate(IS_WIDER_THAN_BOX)
    page.get_by_label(f"all {len(COLUMNS.columns)} columns").check()
    assert heads.count() == len(COLUMNS.columns) and page.evaluate(IS_WIDER_THAN_BOX)


def test_axe_finds_nothing_in_a_table(
    open_pages: Any, axe: str, address: str, size: dict[str, int]
) -> None:
    page = open_pages(size)
    page.goto(address)
    assert violations(page, axe) == []
