"""Test that people at the desk read the configured instructions with each task."""

from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient

from at_the_desk import SHEET, hold_panels, visit, write_sheet
from fault_server import FaultServer
from moot.core.config import PeopleConfig
from moot.core.people_instructions import copy_instructions

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
