"""`papers: {prompts: paper}`: the passages from the user's own copy of a paper."""

from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import UserError
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import default_files
from moot.papers.selection import add_paper_experiments
from moot.papers.wording import PUBLISHED, TEMPLATES, WORDS_TABLE, read_rows

PROJECT = Path(__file__).resolve().parents[2]


def select(item: str) -> dict[str, Any]:
    papers = {"items": item, "prompts": "paper"}
    config = merge_over_defaults({"papers": papers}, default_files(PROJECT))
    add_paper_experiments(config, PROJECT)
    experiments: dict[str, Any] = config["experiments"]
    return experiments


def test_missing_passages_stop_the_run_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"lacks words/.*prompts_from=FILE"):
        select("courtroom/table4")


def test_printed_prompts_are_used_where_the_paper_prints_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for row in read_rows(PROJECT / PUBLISHED / WORDS_TABLE):
        path = TEMPLATES / row["paper"] / row["protocol"] / row["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("words", encoding="utf-8")
    experiments = select("courtroom")
    folder = "config/prompts_published/agenticsimlaw/zero_shot"
    assert experiments["paper-zero-shot"]["prompts"] == folder
    assert not experiments["paper-courtroom"].get("prompts"), "the paper prints none"
