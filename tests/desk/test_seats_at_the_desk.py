"""Test seats on the desk's pages: forms made from the reply, and separate people."""

import asyncio
import html
import re
from pathlib import Path

import pandas as pd
import pytest

from at_the_desk import desk_client
from fault_server import FaultServer
from moot.desk.questions import read_questions
from moot.protocols.inbox import read_answer_file
from people_in_debates import hold, plan_debates, statuses

INPUT = re.compile(
    r"<(?P<tag>input|textarea|"
    r'select)\b[^>]*?\bname="(?P<name>[^"]+)"[^>]*>(?P<body>[^<]*(?:<option>[^<]*</option>)*)'
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer_open_questions(folder: Path, person: str = "", **answers: str) -> list[str]:
    """Answer all open questions of a person and return the pages.

    `answers` has a value for each field.
    """

    async def use() -> list[str]:
        pages = []
        async with desk_client(folder) as client:
            while True:
                seat_response = await client.get("/t/seat", params={"as": person} if person else {})
                page = await seat_response.text()
                if "No question is open now" in page:
                    return pages
                pages.append(page)
                fields = {match["name"]: match for match in INPUT.finditer(page)}
                [seen_digest] = re.findall(r'name="seen" value="(\w+)"', page)
                form_data = {name: value for name, value in answers.items() if name in fields} | {
                    "seen": seen_digest
                }
                response = await client.post(
                    seat_response.url.path, data=form_data, allow_redirects=False
                )
                assert response.status == 303, html.unescape(await response.text())
                ending = f"/t/seat?as={person}" if person else "/t/seat"
                assert response.headers["Location"] == ending

    return asyncio.run(use())


def answer_until_done(plan: object, folder: Path, **answers: str) -> tuple[pd.DataFrame, list[str]]:
    rows, pages = hold(plan), []
    while seen_pages := answer_open_questions(folder, **answers):
        pages += seen_pages
        rows = hold(plan)
    return rows, pages


def test_weighed_factors_are_a_table_and_an_invalid_answer_is_returned(
    server: FaultServer, folder: Path
) -> None:
    plan = plan_debates(server.url, "cot", {"expert": "person"})
    hold(plan)

    async def send_invalid_answers() -> None:
        first = read_questions(Path("data/inbox"))[0]
        answers = {
            "prediction": "NO",
            "confidence": "5",
            "seen": first.digest,
            "factors-0-factor": "Two arrests",
        }
        async with desk_client(folder) as client:
            for change, fault in (
                ({}, "weight ''; expected low or medium or high"),
                (
                    {"factors-0-weight": "high", "confidence": "500"},
                    "expected a whole number from 0 to 100",
                ),
                ({"factors-0-weight": "high", "prediction": "PERHAPS"}, "expected NO or YES"),
            ):
                response = await client.post(f"/t/seat/{first.key}", data={**answers, **change})
                page = html.unescape(await response.text())
                assert response.status == 400 and fault in page and "Nothing is saved yet" in page
                assert change.get("factors-0-factor", "Two arrests") in page, (
                    "the page keeps the fields"
                )
        assert not first.is_answered

    asyncio.run(send_invalid_answers())
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
    rows, pages = answer_until_done(plan, folder, prediction="NO", confidence="5", **table)
    assert len(pages) == 2 and statuses(rows) == ["valid", "valid"]
    question = read_questions(Path("data/inbox"))[0]
    assert read_answer_file(question.answer, question.form)["factors"] == [
        {"factor": "Two arrests", "weight": "high", "reasoning": "Recent | yes"},
        {"factor": "A | job", "weight": "low", "reasoning": "New"},
    ]


def test_two_members_of_a_conference_get_separate_questions(
    server: FaultServer, folder: Path
) -> None:
    seats = {"participant_1": "person:ann", "participant_2": "person:bob"}
    plan = plan_debates(
        server.url,
        "conference",
        seats,
        dataset="conference",
        params={"rounds": 1, "evaluator": False},
    )
    hold(plan)

    async def get_front_page() -> str:
        async with desk_client(folder) as client:
            return await (await client.get("/t/")).text()

    assert (
        "Take the seat of ann" in asyncio.run(get_front_page())
        and answer_open_questions(folder, "bob") == []
    )
    [page] = answer_open_questions(folder, "ann", statement="I am for it.")
    assert "You are participant 1" in page
    hold(plan)
    assert answer_open_questions(folder, "ann") == []
    [page] = answer_open_questions(folder, "bob", statement="So am I.")
    assert "I am for it." in page and "You are participant 2" in page
    rows = hold(plan)
    assert rows.loc[rows["source"] == "human", "speaker"].tolist()[:2] == [
        "participant_1",
        "participant_2",
    ]


HOSTILE_ROLE = '<b onclick="x()">the landlord</b>'


@pytest.mark.parametrize(
    ("seat", "roles", "heading"),
    [
        ("judge", {}, "Judge: belief, round 1"),
        ("judge", {"judge": HOSTILE_ROLE}, f"{HOSTILE_ROLE}: belief, round 1"),
        ("judge", {"judge": "a judge\nof two lines"}, "A judge of two lines: belief, round 1"),
        ("prosecutor", {"prosecutor": "counsel for the tenant"}, "Counsel for the tenant: "),
    ],
)
def test_the_heading_of_a_seat_has_its_role_in_the_configuration(
    server: FaultServer, folder: Path, seat: str, roles: dict[str, str], heading: str
) -> None:
    rows = [f"The tenant paid rent {number} late.,{('no', 'yes')[number % 2]}" for number in (1, 2)]
    Path("disputes.csv").write_text("\n".join(["facts,outcome", *rows]) + "\n")
    table = {
        "loader": "table",
        "path": "disputes.csv",
        "text": "facts",
        "target": "outcome",
        "labels": {"no": "no", "yes": "yes"},
        "question": "Is it granted?",
        "roles": roles,
    }
    plan = plan_debates(
        server.url,
        "courtroom",
        {seat: "person"},
        dataset="disputes",
        keys={"datasets": {"disputes": table}, "data_root": "."},
    )
    hold(plan)
    question = read_questions(Path("data/inbox"))[0]
    assert question.headline.startswith(heading)
    assert f"-{seat}-" in question.page.name, "files are named by the seat"
    [page] = [path for path in question.page.parent.glob("*.md") if path.stem in str(question.page)]
    assert page.read_text().startswith(f"# {heading}")

    async def show() -> str:
        async with desk_client(folder) as client:
            response = await client.get(f"/t/seat/{question.key}")
            return await response.text()

    page_html = asyncio.run(show())
    assert f"<h1>{html.escape(heading, quote=False)}" in page_html.replace("&#34;", '"')
    assert HOSTILE_ROLE not in page_html
