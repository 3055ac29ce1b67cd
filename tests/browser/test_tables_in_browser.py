"""A wide table is accessible in a browser."""

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
    "first value": 0.5,
    "second value": 0.4,
    "difference": (0.1, -0.02, 0.22),
    "p": 0.1,
    "p (Holm)": 0.2,
    "speaks of": "cases like these",
    "answer": "cannot tell",
}


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


def test_axe_finds_nothing_in_a_table(
    open_pages: Any, axe: str, address: str, size: dict[str, int]
) -> None:
    page = open_pages(size)
    page.goto(address)
    assert violations(page, axe) == []
