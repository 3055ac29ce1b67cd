"""The desk's page of conflicts: who sees what when, decisions that are kept, and what becomes of
them in the labels.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pandas as pd
import pytest
from aiohttp.test_utils import TestClient, TestServer

from at_the_desk import SHEET, item, write_sheet
from moot.core.errors import UserError
from moot.desk.labelling import Labelling
from moot.desk.pages import Desk, make_app
from moot.desk.runner import Runner
from moot.desk.settling import Settling, conflicts
from moot.jobs.statement_labels import effective_labels, labels_by_people
from moot.labels.sheets import SheetContents, filled_files, read_annotations
from moot.studies.appellate.legal.rubric import LABELS

ANN = ["AFFIRM", "AFFIRM", "REVERSE", "NONE"]
BOB = ["AFFIRM", "REVERSE", "REVERSE AND REMAND", "NONE"]
ADDRESS = f"/t/settle/{SHEET}/zoe"


def annotate(folder: Path, name: str, labels: list[str]) -> None:
    work = Labelling(folder / "data/annotation_sheets", folder / "data/annotations", SHEET, name)
    for number, label in enumerate(labels):
        work.add_label(item(number), label)


def settling(folder: Path, name: str = "zoe") -> Settling:
    return Settling(folder / "data/annotation_sheets", folder / "data/annotations", SHEET, name)


def visit(folder: Path, visitor: Callable[[TestClient], Awaitable[None]]) -> None:
    """Open a desk anew, use it, and close it."""

    async def use() -> None:
        app = make_app(Desk(folder, Runner([], folder), token="t"))
        async with TestClient(TestServer(app, host="127.0.0.1")) as client:
            await visitor(client)

    asyncio.run(use())


def shown_item(page: str) -> str:
    found = re.search(r'name="item" value="([^"]+)"', page)
    assert found
    return found[1]


def test_conflicts_are_decided_on_their_page_and_decisions_count(tmp_path: Path) -> None:
    write_sheet(tmp_path, 4)
    annotate(tmp_path, "ann", ANN)
    annotate(tmp_path, "bob", BOB[:2])

    async def come_too_early(client: TestClient) -> None:
        page = await (await client.get(ADDRESS)).text()
        assert "People are still labelling this sheet" in page and "who have not: 2." in page
        assert "annotator</small>" not in page and "=Statement" not in page

    visit(tmp_path, come_too_early)
    annotate(tmp_path, "bob", BOB)
    decided: list[str] = []

    async def decide_one(client: TestClient) -> None:
        chosen = await client.post(
            "/t/settle", data={"sheet": SHEET, "annotator": "Zoe"}, allow_redirects=False
        )
        assert chosen.headers["Location"] == ADDRESS
        for name in ("ann", "bob"):
            refused = await client.post("/t/settle", data={"sheet": SHEET, "annotator": name})
            assert refused.status == 400 and "another person decides" in await refused.text()
        page = await (await client.get(ADDRESS)).text()
        assert "0 of 2 conflicts decided" in page
        assert page.count("annotator</small>") == 2 and page.count('class="disputed"') == 2
        assert (
            "ann " not in page
            and "bob" not in page
            and "=Statement" in page
            and "<b onclick" not in page
        )
        decided.append(shown_item(page))
        await client.post(ADDRESS, data={"item": decided[0], "label": "REMAND"})

    async def go_on(client: TestClient) -> None:
        page = await (await client.get(ADDRESS)).text()
        assert "1 of 2 conflicts decided" in page and shown_item(page) != decided[0], (
            "what was sent is on the disk"
        )
        other = await client.post(
            f"/t/settle/{SHEET}/kim", data={"item": decided[0], "label": "AFFIRM"}
        )
        assert "Another person decided REMAND on that statement before" in await other.text()
        await client.post(ADDRESS, data={"item": shown_item(page), "label": "REVERSE"})
        assert "No conflict is open" in await (await client.get(ADDRESS)).text()
        await client.post(ADDRESS, data={"undo": shown_item(page)})
        assert shown_item(await (await client.get(ADDRESS)).text()) == shown_item(page)
        wrong = await client.post(ADDRESS, data={"item": item(0), "label": "AFFIRM"})
        assert wrong.status == 400, "nobody differs there"
        late = await client.post("/t/label", data={"sheet": SHEET, "annotator": "zoe"})
        assert late.status == 400 and "has seen the labels of others" in await late.text()

    visit(tmp_path, decide_one)
    visit(tmp_path, go_on)
    files = filled_files(tmp_path / "data" / "annotations")
    rows, faults = read_annotations(files, {SHEET: SheetContents(set(map(item, range(4))), LABELS)})
    statements = pd.DataFrame(
        {
            "item": list(map(item, range(4))),
            "debate_id": [f"case-{number}#0" for number in range(4)],
            "turn": 2,
        }
    )
    labels = effective_labels(
        pd.DataFrame(labels_by_people(statements, rows)), ("human", "rules")
    ).set_index("item")
    assert faults == [] and labels.loc[decided[0], ["label", "labeler"]].tolist() == [
        "REMAND",
        "adjudicated:zoe",
    ]
    assert labels["labeler"].str.startswith("human:").sum() == 3
    assert (
        len(conflicts(tmp_path / "data/annotation_sheets", tmp_path / "data/annotations")) == 2
    ), "for the record"


def test_who_gave_which_label_cannot_be_told(tmp_path: Path) -> None:
    """Over many statements each annotator's label stands first about as often."""
    write_sheet(tmp_path, 40)
    for name, label in (("ann", "AFFIRM"), ("bob", "REVERSE")):
        annotate(tmp_path, name, [label] * 40)
    work = settling(tmp_path)
    first = [work.shuffled_labels(statement)[0] for statement in work.statements]
    assert 10 < first.count("AFFIRM") < 30


def test_two_decisions_in_files_are_a_fault(tmp_path: Path) -> None:
    write_sheet(tmp_path, 4)
    for name, labels in (("ann", ANN), ("bob", BOB), ("cid", ANN)):
        annotate(tmp_path, name, labels)
    work = settling(tmp_path)
    assert len(work.shuffled_labels(work.statements[0])) == 3
    folder = tmp_path / "data" / "annotations"
    for name in ("kim", "zoe"):
        (folder / f"{name}.csv").write_text(f"item,label,adjudicator\n{item(1)},REVERSE,{name}\n")
    rows, (fault,) = read_annotations(
        filled_files(folder), {SHEET: SheetContents(set(map(item, range(4))), LABELS)}
    )
    assert "an adjudicator decided on" in fault and "zoe.csv" in fault
    assert (rows["kind"] == "adjudicated").sum() == 1
    with pytest.raises(UserError, match="cannot be a name"):
        settling(tmp_path, "../zoe")
    (folder / "eve.csv").write_text(f"item,label,annotator\n{item(0)},REVERSE,Eve\n")
    with pytest.raises(UserError, match="labelled this sheet"):
        settling(tmp_path, "eve")
    assert settling(tmp_path).partial_counts == [1] and not settling(tmp_path).statements
