"""Test that people at the desk read the configured instructions with each task."""

from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient

from at_the_desk import SHEET, hold_panels, visit, write_sheet
from courtroom_runs import PROJECT, configuration
from fault_server import FaultServer
from moot.core.config import PeopleConfig
from moot.core.errors import UserError
from moot.core.people_instructions import copy_instructions, read_instructions
from moot.plan.plan import Plan

TEXT = "Read all of it; then decide. <b>"
ESCAPED_TEXT = "Read all of it; then decide. &lt;b&gt;"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("instructions.md").write_text(TEXT)
    return tmp_path


def test_an_annotator_reads_the_instructions_until_they_are_removed(folder: Path) -> None:
    write_sheet(folder, 2)

    async def label(client: TestClient) -> None:
        copy_instructions(PeopleConfig(instructions="instructions.md"))
        page = await (await client.get(f"/t/label/{SHEET}/ann")).text()
        assert ESCAPED_TEXT in page and "=Statement 0" in page
        copy_instructions(PeopleConfig())
        page = await (await client.get(f"/t/label/{SHEET}/ann")).text()
        assert "Instructions" not in page and "=Statement 0" in page

    visit(folder, label)


def test_a_person_in_a_debate_reads_the_instructions(folder: Path, server: FaultServer) -> None:
    hold_panels(server.url, cases=1)
    copy_instructions(PeopleConfig(instructions="instructions.md"))

    async def sit(client: TestClient) -> None:
        page = await (await client.get("/t/seat")).text()
        assert ESCAPED_TEXT in page
        assert "&lt;i&gt;Facts&lt;/i&gt;" in page and "<i>" not in page and "case-" not in page

    visit(folder, sit)


def test_without_instructions_no_file_is_written(folder: Path) -> None:
    copy_instructions(PeopleConfig())
    assert read_instructions(folder) == "" and not Path("data").exists()


def test_a_missing_file_is_named_with_its_key(folder: Path) -> None:
    config = configuration("http://127.0.0.1:1", Path(), {})
    message = r"nowhere\.md: no such file; write the text there, or leave people\.instructions out"
    with pytest.raises(UserError, match=message):
        Plan.from_yaml({**config, "people": {"instructions": "nowhere.md"}}, PROJECT)
