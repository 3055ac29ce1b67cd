"""Missing data of the papers' items stop a run before a model is asked."""

from pathlib import Path

import pytest

from messages import refusal
from moot.core.errors import UserError
from moot.datasets import LOADERS
from moot.papers.item_data import fetch_item_data
from moot.papers.selection import own_sources
from moot.plan.papers_of_run import paper_plan

PROJECT = Path(__file__).resolve().parents[2]
VERSIONS = PROJECT / "data" / "versions.csv"
DOWNLOADED = ["cail18", "caselaw", "claim_polarity", "claim_stance", "nlsy97", "vast"]
"""The loaders of all papers but the first."""
MISSING = "papers: data are missing; no model was asked."


def refuse(url: str) -> bytes:
    raise OSError(f"no route to {url[:8]}")


def test_the_data_of_all_papers_but_the_first_are_downloaded() -> None:
    designs = paper_plan(PROJECT).datasets
    loaders = {entry.loader for entry in designs.values() if entry.source == "download"}
    assert sorted(filter(None, loaders)) == DOWNLOADED


def test_missing_data_are_named_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        fetch_item_data(tmp_path, VERSIONS, DOWNLOADED, [], refuse)
    message = str(caught.value)
    assert message.startswith(MISSING)
    for loader in DOWNLOADED:
        assert f"{loader}: {own_sources(LOADERS[loader].options)[0]}" in message
    assert "could not be downloaded" in message and "source to local" in message


def test_files_in_place_are_not_downloaded_again(tmp_path: Path) -> None:
    path = tmp_path / "nlsy97" / "nlsy97_full.csv"
    path.parent.mkdir()
    path.write_text("mine\n", encoding="utf-8")
    with refusal():
        fetch_item_data(tmp_path, VERSIONS, ["nlsy97"], [], refuse)
    assert path.read_text(encoding="utf-8") == "mine\n"
