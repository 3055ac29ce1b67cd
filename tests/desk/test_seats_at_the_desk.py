"""Seats of protocols taken on the desk's pages: forms made from what each seat must answer, and
people told apart.
"""

import asyncio
import html
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from aiohttp.test_utils import TestClient, TestServer

from fault_server import FaultServer
from moot.desk.answers import read_questions
from moot.desk.pages import Desk, make_app
from moot.desk.runner import Runner
from moot.protocols.inbox import read_answer_file
from people_in_debates import hold, planned, statuses

INPUT = re.compile(
    r"<(?P<tag>input|textarea|"
    r'select)\b[^>]*?\bname="(?P<name>[^"]+)"[^>]*>(?P<body>[^<]*(?:<option>[^<]*</option>)*)'
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sit(folder: Path, person: str = "", **said: str) -> list[str]:
    """Answer all that is open for a person with what is said by field, as a browser sends it; the
    pages seen.
    """

    async def use() -> list[str]:
        desk, pages = Desk(folder, Runner([], folder), token="t"), []
        async with TestClient(TestServer(make_app(desk), host="127.0.0.1")) as client:
            while True:
                shown = await client.get("/t/seat", params={"as": person} if person else {})
                page = await shown.text()
                if "No question is open now" in page:
                    return pages
                pages.append(page)
                fields = {match["name"]: match for match in INPUT.finditer(page)}
                [seen] = re.findall(r'name="seen" value="(\w+)"', page)
                sent = {name: value for name, value in said.items() if name in fields} | {
                    "seen": seen
                }
                answered = await client.post(shown.url.path, data=sent, allow_redirects=False)
                assert answered.status == 303, html.unescape(await answered.text())
                ending = f"/t/seat?as={person}" if person else "/t/seat"
                assert answered.headers["Location"] == ending

    return asyncio.run(use())


def until_done(plan: object, folder: Path, **said: str) -> tuple[pd.DataFrame, list[str]]:
    rows, pages = hold(plan), []
    while seen := sit(folder, **said):
        pages += seen
        rows = hold(plan)
    return rows, pages


def test_the_courtroom_is_judged_on_its_pages(server: FaultServer, folder: Path) -> None:
    plan = planned(server.url, "courtroom", {"judge": "person"})
    said = {
        "prediction": "YES",
        "confidence": "60",
        "reasoning": "The file is thick.\nAnd <b>long</b>.",
    }
    rows, pages = until_done(plan, folder, **said)
    assert len(pages) == 8 and statuses(rows) == ["valid", "valid"]
    first = html.unescape(pages[0])
    assert (
        "Judge: belief, round 1" in first
        and '<input type="radio" name="prediction" value="YES"' in first
    )
    assert (
        "write down your present prediction" in first
        and "JSON" not in first
        and "tags such as" not in first
    )
    assert not any(name in page for page in pages for name in ("person-0", "scripted"))
    assert "&lt;b&gt;long&lt;/b&gt;" in pages[-1] and "<b>" not in pages[-1]
    judged = rows[rows["speaker"] == "judge"]
    assert set(judged["source"]) == {"human"} and set(judged["prediction"]) == {"yes"}
    assert {json.loads(parsed)["reasoning"] for parsed in judged["parsed"]} == {said["reasoning"]}


def test_weighed_factors_are_a_table_and_what_cannot_be_kept_comes_back(
    server: FaultServer, folder: Path
) -> None:
    plan = planned(server.url, "cot", {"expert": "person"})
    hold(plan)

    async def go_wrong() -> None:
        desk = Desk(folder, Runner([], folder), token="t")
        first = read_questions(desk.inbox)[0]
        said = {
            "prediction": "NO",
            "confidence": "5",
            "seen": first.digest,
            "factors-0-factor": "Two arrests",
        }
        async with TestClient(TestServer(make_app(desk), host="127.0.0.1")) as client:
            for change, fault in (
                ({}, "weight ''; expected low or medium or high"),
                (
                    {"factors-0-weight": "high", "confidence": "500"},
                    "expected a whole number from 0 to 100",
                ),
                ({"factors-0-weight": "high", "prediction": "PERHAPS"}, "expected NO or YES"),
            ):
                answered = await client.post(f"/t/seat/{first.key}", data={**said, **change})
                page = html.unescape(await answered.text())
                assert answered.status == 400 and fault in page and "Nothing is saved yet" in page
                assert change.get("factors-0-factor", "Two arrests") in page, (
                    "what was filled in is not lost"
                )
        assert not first.is_answered

    asyncio.run(go_wrong())
    table = {
        "factors-0-factor": "Two arrests",
        "factors-0-weight": "high",
        "factors-0-reasoning": "Recent | yes",
    }
    table |= {
        "factors-3-factor": "A | job",
        "factors-3-weight": "low",
        "factors-3-reasoning": "New",
    }
    rows, pages = until_done(plan, folder, prediction="NO", confidence="5", **table)
    assert len(pages) == 2 and statuses(rows) == ["valid", "valid"]
    given = read_questions(Path("data/inbox"))[0]
    assert read_answer_file(given.answer, given.form)["factors"] == [
        {"factor": "Two arrests", "weight": "high", "reasoning": "Recent | yes"},
        {"factor": "A | job", "weight": "low", "reasoning": "New"},
    ]


def test_two_members_of_a_conference_have_questions_of_their_own(
    server: FaultServer, folder: Path
) -> None:
    seats = {"participant_1": "person:ann", "participant_2": "person:bob"}
    plan = planned(
        server.url,
        "conference",
        seats,
        dataset="conference",
        params={"rounds": 1, "evaluator": False},
    )
    hold(plan)
    home = (Path(folder), "t")

    async def look() -> str:
        async with TestClient(
            TestServer(make_app(Desk(*home[:1], Runner([], folder), token="t")), host="127.0.0.1")
        ) as one:
            return await (await one.get("/t/")).text()

    assert "Take the seat of ann" in asyncio.run(look()) and sit(folder, "bob") == []
    [page] = sit(folder, "ann", statement="I am for it.")
    assert "You are participant 1" in page
    hold(plan)
    assert sit(folder, "ann") == []
    [page] = sit(folder, "bob", statement="So am I.")
    assert "I am for it." in page and "You are participant 2" in page
    rows = hold(plan)
    assert rows.loc[rows["source"] == "human", "speaker"].tolist()[:2] == [
        "participant_1",
        "participant_2",
    ]
