"""Test the desk's pages without a browser: saved answers, access, and two people on one seat."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient

from at_the_desk import SHEET, desk_client, hold_panels, item, visit, write_sheet
from fault_server import FaultServer
from moot.core.errors import UserError
from moot.desk.labelling import Labelling
from moot.desk.pages import Desk
from moot.desk.questions import read_questions
from moot.desk.runner import Runner
from moot.labels.sheets import SheetContents, read_annotations
from moot.protocols.inbox import read_answer_file
from moot.studies.appellate.legal.rubric import LABELS

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
ANSWER = {
    "position": "I would affirm the decision.",
    "statement": "The record is thin.",
    "confidence": "70",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
async def client(folder: Path) -> AsyncIterator[TestClient]:
    async with desk_client(folder) as client:
        yield client


async def send_answer(client: TestClient, key: str, **fields: str) -> tuple[int, str]:
    response = await client.post(f"/t/seat/{key}", data={**ANSWER, **fields}, allow_redirects=False)
    return response.status, await response.text()


def test_a_rejected_answer_is_returned_and_kept(folder: Path, server: FaultServer) -> None:
    """Cover malformed, duplicate and repeated answers, and debates that changed or vanished."""
    hold_panels(server.url)
    inbox = folder / "data" / "inbox"
    first, second = read_questions(inbox)

    def count_rejected_answers() -> int:
        return len(list(inbox.rglob("*.aside-*")))

    async def send_faulty_answers(client: TestClient) -> None:
        for fields, fault in (
            ({"confidence": "x"}, "from 0 to 100"),
            ({"statement": "Confidence: 3"}, "2 lines"),
        ):
            status, page = await send_answer(client, first.key, seen=first.digest, **fields)
            assert status == 400 and fault in page and "I would affirm the decision." in page
        assert not first.is_answered and count_rejected_answers() == 0
        assert [(await send_answer(client, first.key, seen=first.digest))[0] for _ in range(2)] == [
            303,
            303,
        ]
        assert count_rejected_answers() == 0, "the same answer twice is one answer"
        status, page = await send_answer(
            client, first.key, seen=first.digest, statement="I differ."
        )
        assert status == 400 and "from another tab, which counts" in page
        assert (
            read_answer_file(first.answer, first.form)["statement"].endswith("The record is thin.")
            and count_rejected_answers() == 1
        )
        second.page.write_text(second.page.read_text().replace("Facts", "New facts"))
        status, page = await send_answer(client, second.key, seen=second.digest)
        assert (
            status == 400
            and "has changed" in page
            and "New facts" in page
            and "The record is thin." in page
        )
        assert not second.is_answered and count_rejected_answers() == 2
        assert (await send_answer(client, second.key, seen=read_questions(inbox)[1].digest))[
            0
        ] == 303
        status, page = await send_answer(client, "0" * 16, seen="x", statement="Still mine.")
        assert status == 400 and "kept in" in page
        assert "Still mine." in next(inbox.glob("unasked.aside-*")).read_text()

    visit(folder, send_faulty_answers)


async def test_access_needs_the_secret_address_and_the_same_origin(
    client: TestClient,
) -> None:
    assert (await client.get("/t/")).status == 200
    assert (await client.get("/T/")).status == 404
    assert (await client.get("/t/", headers={"Host": "evil.example"})).status == 404
    cross_site_response = await client.post(
        "/t/seat/x", data=ANSWER, headers={"Origin": "http://evil.example"}
    )
    assert cross_site_response.status == 403
    page = await client.get("/t/")
    assert (
        "default-src 'none'" in page.headers["Content-Security-Policy"]
        and page.headers["Cache-Control"] == "no-store"
    )
    assert (await client.get("/t/desk.css")).status == 200
    assert len({Desk(Path(), Runner([], Path())).token for _ in range(3)}) == 3


TRUNCATED_FORM = b'--x\r\nContent-Disposition: form-data; name="statement"\r\n\r\nI say'
FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data; boundary=x", TRUNCATED_FORM),
        ("multipart/form-data; boundary=x", TRUNCATED_FORM + b"\r\n--x--\r\n"),
        ("multipart/form-data", TRUNCATED_FORM),
        ("multipart/form-data; boundary=x", b""),
        ("application/json", b'{"statement": "I say"}'),
        (FORM, b"statement=%ff\xff"),
        (f"{FORM}; charset=klingon", b"statement=I+say"),
    ],
)
async def test_a_truncated_or_unsupported_form_is_reported(
    client: TestClient, folder: Path, kind: str, body: bytes
) -> None:
    for address in ("/t/seat/0", "/t/label", "/t/label/0/me"):
        response = await client.post(address, data=body, headers={"Content-Type": kind})
        page = await response.text()
        assert (
            response.status == 400
            and "what was sent cannot be read" in page
            and "Nothing was kept" in page
        )
    assert not list(folder.rglob("*.txt"))


async def test_labels_are_saved_and_undone_one_by_one(client: TestClient, folder: Path) -> None:
    write_sheet(folder, 3)
    response = await client.post(
        "/t/label", data={"sheet": SHEET, "annotator": "Ann"}, allow_redirects=False
    )
    address = response.headers["Location"]
    assert address == f"/t/label/{SHEET}/ann"
    file = folder / "data" / "annotations" / f"desk-{SHEET}-ann.csv"
    labelled_items = []
    for number, label in enumerate(("AFFIRM", "REVERSE AND REMAND", "NONE"), 1):
        page = await (await client.get(address)).text()
        item_on_page = page.split('name="item" value="')[1].split('"')[0]
        assert "=Statement" in page and "<b onclick" not in page and f"{number - 1} of 3" in page
        await client.post(address, data={"item": item_on_page, "label": label})
        labelled_items.append(item_on_page)
        rows, faults = read_annotations(
            [file], {SHEET: SheetContents(set(map(item, range(3))), LABELS)}
        )
        assert (
            faults == []
            and rows["label"].iloc[-1] == label
            and list(rows["item"]) == labelled_items
        )
    assert "All statements of this sheet are labelled" in await (await client.get(address)).text()
    other_tab = await (
        await client.post(address, data={"item": labelled_items[0], "label": "REVERSE"})
    ).text()
    assert "In another tab this statement already has the label AFFIRM" in other_tab
    for _ in range(2):  # a second click changes nothing
        await client.post(address, data={"undo": labelled_items[2]})
    assert (
        list(Labelling(folder / "data/annotation_sheets", file.parent, SHEET, "ann").labels())
        == labelled_items[:2]
    )
    refusal = await client.post(address, data={"item": labelled_items[0], "label": "<script>"})
    assert refusal.status == 400 and "&lt;script&gt;" in await refusal.text()
    bob = await (await client.get(f"/t/label/{SHEET}/bob")).text()
    assert "0 of 3 labelled" in bob and "ann" not in bob.replace("annotat", "")


def test_invalid_names_are_refused(folder: Path) -> None:
    write_sheet(folder, 2)
    sheets, annotations = folder / "data" / "annotation_sheets", folder / "data" / "annotations"
    for sheet, annotator in ((SHEET, "../ann"), (SHEET, ""), ("../x", "ann"), (SHEET, "a" * 40)):
        with pytest.raises(UserError):
            Labelling(sheets, annotations, sheet, annotator)


async def test_the_debates_continue_after_each_answer(folder: Path) -> None:
    """The command runs when the desk opens and again for answers that came meanwhile.

    Closing the desk ends it.
    """
    script = (
        "import pathlib, time; p = pathlib.Path('ran'); p.write_text(p.read_text() + 'x' if"
        " p.exists() else 'x'); "
    )
    runner = Runner([sys.executable, "-c", script + "time.sleep(0.5)"], folder)
    async with desk_client(folder, runner) as client:
        while not (folder / "ran").exists():
            await client.get("/t/")
        runner.go_on()
        runner.go_on()
        while (folder / "ran").read_text() != "xx" or runner.is_running:
            assert "data-wait" in await (await client.get("/t/seat")).text()
    assert (folder / "ran").read_text() == "xx" and runner.status == 0


async def test_the_page_shows_why_a_run_stopped(folder: Path) -> None:
    runner = Runner(
        [
            sys.executable,
            "-c",
            "print('first'); raise SystemExit('models.x: the key <b>is</b> empty')",
        ],
        folder,
    )
    async with desk_client(folder, runner) as client:
        while runner.status is None or runner.is_running:
            await asyncio.sleep(0.05)
        page = await (await client.get("/t/seat")).text()
    assert "The last run stopped. All your answers are saved." in page
    assert "models.x: the key &lt;b&gt;is&lt;/b&gt; empty" in page


async def test_a_desk_waits_for_the_run_of_a_killed_desk(folder: Path) -> None:
    """Snakemake's lock of the working directory would refuse a second run."""
    script = (
        "import os, pathlib, time; os.mkdir('running'); time.sleep(1); os.rmdir('running');"
        " print('done', flush=True)"
    )
    command = [sys.executable, "-c", script]
    first = "import asyncio, sys; from pathlib import Path; from moot.desk.runner import Runner\n"
    first += "runner = Runner(sys.argv[1:], Path()); runner.go_on(); asyncio.run(runner._run())"
    killed_process = subprocess.Popen(
        [sys.executable, "-c", first, *command], env={**os.environ, "PYTHONPATH": str(SCRIPTS)}
    )
    while not Path("running").exists():
        await asyncio.sleep(0.02)
    killed_process.kill()
    killed_process.wait()
    runner = Runner(command, folder)
    async with desk_client(folder, runner):
        while runner.status is None:
            assert runner.is_running
            await asyncio.sleep(0.05)
    assert runner.status == 0 and (folder / "data" / "desk.log").read_text() == "done\n" * 2
