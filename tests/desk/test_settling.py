"""Test the desk's page of conflicts: visibility, decisions and the resulting labels."""

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


def make_settling(folder: Path, name: str = "zoe") -> Settling:
    return Settling(folder / "data/annotation_sheets", folder / "data/annotations", SHEET, name)


def visit(folder: Path, visitor: Callable[[TestClient], Awaitable[None]]) -> None:
    """Open a desk, run the visitor, and close the desk."""

    async def use() -> None:
        app = make_app(Desk(folder, Runner([], folder), token="t"))
        async with TestClient(TestServer(app, host="127.0.0.1")) as client:
            await visitor(client)

    asyncio.run(use())


def item_on_page(page: str) -> str:
    match = re.search(r'name="item" value="([^"]+)"', page)
    assert match
    return match[1]


def test_conflicts_are_decided_on_the_page_and_change_the_labels(tmp_path: Path) -> None:
    write_sheet(tmp_path, 4)
    annotate(tmp_path, "ann", ANN)
    annotate(tmp_path, "bob", BOB[:2])

    async def come_too_early(client: TestClient) -> None:
        page = await (await client.get(ADDRESS)).text()
        assert "People are still labelling this sheet" in page
        assert "The people who have not finished have labelled: 2." in page
        assert "annotator</small>" not in page and "=Statement" not in page

    visit(tmp_path, come_too_early)
    annotate(tmp_path, "bob", BOB)
    decided_items: list[str] = []

    async def decide_one(client: TestClient) -> None:
        response = await client.post(
            "/t/settle", data={"sheet": SHEET, "annotator": "Zoe"}, allow_redirects=False
        )
        assert response.headers["Location"] == ADDRESS
        for name in ("ann", "bob"):
            refusal = await client.post("/t/settle", data={"sheet": SHEET, "annotator": name})
            assert refusal.status == 400 and "another person decides" in await refusal.text()
        page = await (await client.get(ADDRESS)).text()
        assert "0 of 2 conflicts decided" in page
        assert page.count("annotator</small>") == 2 and page.count('class="disputed"') == 2
        assert (
            "ann " not in page
            and "bob" not in page
            and "=Statement" in page
            and "<b onclick" not in page
        )
        decided_items.append(item_on_page(page))
        await client.post(ADDRESS, data={"item": decided_items[0], "label": "REMAND"})

    async def decide_the_rest(client: TestClient) -> None:
        page = await (await client.get(ADDRESS)).text()
        assert "1 of 2 conflicts decided" in page and item_on_page(page) != decided_items[0], (
            "the decision is saved"
        )
        second_response = await client.post(
            f"/t/settle/{SHEET}/kim", data={"item": decided_items[0], "label": "AFFIRM"}
        )
        notice = "Another person has already decided REMAND for this statement"
        assert notice in await second_response.text()
        await client.post(ADDRESS, data={"item": item_on_page(page), "label": "REVERSE"})
        assert "No conflict is open" in await (await client.get(ADDRESS)).text()
        await client.post(ADDRESS, data={"undo": item_on_page(page)})
        assert item_on_page(await (await client.get(ADDRESS)).text()) == item_on_page(page)
        refusal = await client.post(ADDRESS, data={"item": item(0), "label": "AFFIRM"})
        assert refusal.status == 400, "the statement has no conflict"
        late_refusal = await client.post("/t/label", data={"sheet": SHEET, "annotator": "zoe"})
        assert (
            late_refusal.status == 400
            and "has seen the labels of others" in await late_refusal.text()
        )

    visit(tmp_path, decide_one)
    visit(tmp_path, decide_the_rest)
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
    assert faults == [] and labels.loc[decided_items[0], ["label", "labeler"]].tolist() == [
        "REMAND",
        "adjudicated:zoe",
    ]
    assert labels["labeler"].str.startswith("human:").sum() == 3
    assert (
        len(conflicts(tmp_path / "data/annotation_sheets", tmp_path / "data/annotations")) == 2
    ), "decided conflicts stay listed"


def test_the_order_of_labels_does_not_reveal_the_annotators(tmp_path: Path) -> None:
    """Over many statements, the label of each annotator comes first about equally often."""
    write_sheet(tmp_path, 40)
    for name, label in (("ann", "AFFIRM"), ("bob", "REVERSE")):
        annotate(tmp_path, name, [label] * 40)
    work = make_settling(tmp_path)
    first = [work.shuffled_labels(statement)[0] for statement in work.statements]
    assert 10 < first.count("AFFIRM") < 30


def test_two_decisions_in_files_are_a_fault(tmp_path: Path) -> None:
    write_sheet(tmp_path, 4)
    for name, labels in (("ann", ANN), ("bob", BOB), ("cid", ANN)):
        annotate(tmp_path, name, labels)
    work = make_settling(tmp_path)
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
        make_settling(tmp_path, "../zoe")
    (folder / "eve.csv").write_text(f"item,label,annotator\n{item(0)},REVERSE,Eve\n")
    with pytest.raises(UserError, match="labelled this sheet"):
        make_settling(tmp_path, "eve")
    assert make_settling(tmp_path).partial_counts == [1] and not make_settling(tmp_path).statements
