"""What people at the desk are told and agree to, what is kept of it, and what reviewers are told."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from at_the_desk import SHEET, hold_panels, item, write_sheet
from courtroom_runs import PROJECT, configuration
from fault_server import FaultServer
from moot.core.config import PeopleConfig
from moot.core.errors import UserError
from moot.desk.answers import read_questions
from moot.desk.pages import Desk, make_app
from moot.desk.runner import Runner
from moot.desk.study import Study, tell_desk
from moot.plan.plan import Plan
from moot.studies.appellate.legal.rubric import LABELS
from project_copy import Workflow
from verify_bundle import sha256

CONSENT, INSTRUCTIONS = "You may stop at any time. <b>", "Read all of it; then decide."
SAID = {
    "position": "I would affirm the decision.",
    "statement": "The record is thin.",
    "confidence": "70",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("consent.md").write_text(CONSENT)
    Path("instructions.md").write_text(INSTRUCTIONS)
    return tmp_path


def told(**keys: Any) -> None:
    tell_desk(PeopleConfig(instructions="instructions.md", consent="consent.md", **keys))


def visit(folder: Path, visitor: Callable[[TestClient], Awaitable[None]]) -> None:
    async def use() -> None:
        desk = Desk(folder, Runner([], folder), token="t")
        async with TestClient(TestServer(make_app(desk), host="127.0.0.1")) as client:
            await visitor(client)

    asyncio.run(use())


def diary(name: str) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in Path(f"data/people/{name}.jsonl").read_text("utf-8").splitlines()
    ]


def label_page(name: str) -> str:
    return f"/t/label/{SHEET}/{name}"


def test_who_labels_agrees_first_reads_the_instructions_and_leaves_times(folder: Path) -> None:
    write_sheet(folder, 2)
    told(pay=0.25, currency="EUR")

    async def label(client: TestClient) -> None:
        page = await (await client.get(label_page("ann"))).text()
        assert "You may stop at any time. &lt;b&gt;" in page and "=Statement 0" not in page
        assert not Path("data/people").exists(), "nothing is kept of who does not agree"
        sent = await client.post("/t/consent", data={"person": "ann", "back": label_page("ann")})
        page = await sent.text()
        assert (
            str(sent.url.path) == label_page("ann")
            and INSTRUCTIONS in page
            and "=Statement 0" in page
        )
        for number in range(2):
            await client.get(label_page("ann"))
            assert (
                await client.post(
                    label_page("ann"), data={"item": item(number), "label": LABELS[0]}
                )
            ).status == 200
        assert "Before you begin" in await (await client.get(label_page("bob"))).text()
        elsewhere = {"person": "bob", "back": "https://evil.example/"}
        sent = await client.post("/t/consent", data=elsewhere, allow_redirects=False)
        assert sent.headers["Location"] == "/t/"

    visit(folder, label)
    events = [(event["event"], event["task"]) for event in diary("ann")]
    assert events == [
        ("consent", ""),
        ("instructions", ""),
        *[(event, item(number)) for number in range(2) for event in ("shown", "answered")],
    ]
    agreed, read = diary("ann")[:2]
    assert (agreed["words"], agreed["text"]) == (CONSENT, sha256(CONSENT.encode())) and read[
        "words"
    ] == INSTRUCTIONS
    assert all(datetime.fromisoformat(event["at"]).tzinfo for event in diary("ann"))


def test_another_consent_text_is_agreed_to_anew_and_an_answer_is_never_lost_to_it(
    folder: Path,
) -> None:
    write_sheet(folder, 2)
    told()
    Study.of(folder).note("ann", "consent")
    Path("consent.md").write_text("You are paid by the hour.")
    told()

    async def label(client: TestClient) -> None:
        assert "paid by the hour" in await (await client.get(label_page("ann"))).text()
        sent = await client.post(
            label_page("ann"), data={"item": item(0), "label": LABELS[0]}, allow_redirects=False
        )
        assert sent.status == 303

    visit(folder, label)
    assert item(0) in Path(f"data/annotations/desk-{SHEET}-ann.csv").read_text()


def test_who_sits_in_a_debate_agrees_and_reads_too(folder: Path, server: FaultServer) -> None:
    hold_panels(server.url, cases=1)
    told()

    async def sit(client: TestClient) -> None:
        (question,) = read_questions(folder / "data" / "inbox")
        assert "Before you begin" in await (await client.get("/t/seat")).text()
        page = await (
            await client.post("/t/consent", data={"person": "", "back": "/t/seat"})
        ).text()
        assert INSTRUCTIONS in page and "Facts" in page
        await client.post(f"/t/seat/{question.key}", data={**SAID, "seen": question.digest})

    visit(folder, sit)
    assert [event["event"] for event in diary("unnamed")] == [
        "consent",
        "instructions",
        "shown",
        "answered",
    ]


def test_the_checklist_says_what_reviewers_ask_and_nobody_by_name(folder: Path) -> None:
    """Ann takes 30 and 90 seconds; what Bob left open overnight, or as the clock was set back,
    counts as no time.
    """
    told(
        pay=0.5,
        currency="EUR",
        recruitment="By a mail to students of law.",
        approval="IRB 12/2026.",
    )
    study, begun = Study.of(folder), datetime.fromisoformat("2026-03-01T10:00:00+00:00")
    for name, took in (("ann", [30, 90]), ("bob", [40_000, -600])):
        study.note(name, "consent")
        study.show(name, "0")
        events = diary(name)
        for number, seconds in enumerate(took):
            at = begun + timedelta(hours=number)
            events += [
                {
                    "at": at.isoformat(),
                    "event": "shown",
                    "task": f"s{number}",
                    "text": "",
                    "words": "",
                }
            ]
            end = (at + timedelta(seconds=seconds)).isoformat()
            events += [
                {"at": end, "event": "answered", "task": f"s{number}", "text": "", "words": ""}
            ]
        Path(f"data/people/{name}.jsonl").write_text(
            "".join(json.dumps(event) + "\n" for event in events)
        )
    said = study.checklist()
    for words in (
        f"2 of 2 people were shown this:\n\n{INSTRUCTIONS}",
        f"2 of 2 people agreed to this:\n\n{CONSENT}",
        "By a mail to students of law.",
        "0.5 EUR for each answer or label; 30.00 an hour",
        (
            "2 people gave 4 answers and labels, 60 seconds each (median). 0.03 hours in all, by"
            " the 2 that came within 60"
        ),
        "## Review board\n\nIRB 12/2026.",
        "## Who they are\n\nnot stated",
    ):
        assert words in said
    assert not re.search(r"\b(ann|bob)\b", said)


def test_a_text_that_is_not_there_is_named_with_its_key(folder: Path) -> None:
    raw = configuration("http://127.0.0.1:1", Path(), {})
    with pytest.raises(
        UserError,
        match=r"nowhere\.md: no such file; write the text there, or leave people\.consent out",
    ):
        Plan.from_yaml({**raw, "people": {"consent": "nowhere.md"}}, PROJECT)


@pytest.mark.slow
def test_a_run_tells_the_desk_what_the_configuration_says(tmp_path: Path) -> None:
    """Slow; only it finds that Snakemake no longer writes what the desk shows."""
    workflow = Workflow(tmp_path, "http://127.0.0.1:1")
    (workflow.work / "consent.md").write_text(CONSENT)
    workflow.configure({"people": {"consent": "consent.md", "pay": 1}})
    done = workflow.run("results/cases/people.parquet")
    assert done.returncode == 0, done.stdout[-4000:]
    study = Study.of(workflow.work)
    assert study.must_agree("ann") and study.said["pay"] == 1
