"""Test the desk in a real browser, with the server killed in between.

Slow: only this test detects pages of the desk that a browser cannot use.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import forks
from at_the_desk import ROUNDS, SHEET, item, write_sheet
from browser_pages import PHONE, WIDE, violations
from fault_server import FaultServer
from moot.labels.sheets import SheetContents, read_annotations
from moot.studies.appellate.legal.rubric import LABELS
from project_copy import Workflow

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]
STATEMENTS = 12
PROGRAM = """
import sys
from people_in_debates import hold, plan_debates
hold(plan_debates(sys.argv[1], "cot", {"expert": "person"}))
"""


class OpenDesk:
    """A desk in its own process; that of the checkout is a fork."""

    def __init__(
        self, folder: Path, *command: str, script: Path = PROJECT / "scripts" / "desk.py"
    ) -> None:
        python, address = sys.executable, {"PYTHONPATH": ""}
        if script.is_relative_to(PROJECT):
            python, address = forks.python_of(PROJECT)
        self.process = subprocess.Popen(
            [python, str(script), *command],
            cwd=folder, env={**os.environ, **address}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout
        words = chain.from_iterable(line.split() for line in self.process.stdout)
        self.address = next(word for word in words if "://" in word)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def desks(tmp_path: Path) -> Iterator[Any]:
    """Return a function that opens desks in a folder; the fixture kills them at the end."""
    processes = []

    def open_desk(*command: str) -> OpenDesk:
        processes.append(OpenDesk(tmp_path, *command))
        return processes[-1]

    yield open_desk
    for desk in processes:
        desk.kill()


def check_page(page: Any, axe: str, tmp_path: Path, name: str) -> None:
    """Take a screenshot of a page in both sizes, and check its accessibility."""
    for size in (WIDE, PHONE):
        page.set_viewport_size(size)
        page.screenshot(path=tmp_path / f"desk-{name}-{size['width']}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size(WIDE)
    assert violations(page, axe) == []


def answer_question(page: Any, number: int) -> None:
    """Answer the question on a page of any seat by clicking and typing."""
    if page.get_by_role("radio").count():
        page.get_by_role("radio", name="YES").check()
        page.get_by_label("Reasoning").fill(f"Reason {number}.")
    else:
        page.get_by_label("Your position").fill("I would affirm the decision.")
        page.get_by_label("Your reasons").fill(f"Reason {number}.")
    page.get_by_label("Confidence").fill("70")
    page.get_by_role("button", name="Send").click()


def test_a_panel_and_a_courtroom_are_judged_although_the_desk_is_killed(
    open_pages: Any, axe: str, tmp_path: Path
) -> None:
    """Three rounds on a panel and the judge's seat in a courtroom, with Snakemake running."""
    desks: list[OpenDesk] = []
    with FaultServer() as server:
        workflow = Workflow(tmp_path, server.url)
        ask = {"protocol": "human_panel", "dataset": "opinions", "models": "served", "cases": 1}
        workflow.configure(
            {
                "run": ["trial", "ask"],
                "experiments/trial/cases": 1,
                "experiments/trial/params": {"seats": {"judge": "person"}},
                "experiments/ask": {**ask, "params": {"seats": {"human": "person"}}},
            }
        )
        snakemake = [
            sys.executable,
            "-m",
            "snakemake",
            "--snakefile",
            str(workflow.project / "Snakefile"),
            "debates",
        ]
        command = [
            *snakemake,
            "--configfile",
            "my.yaml",
            "--workflow-profile",
            "none",
            "--cores",
            "2",
        ]

        def open_desk() -> OpenDesk:
            desks.append(
                OpenDesk(workflow.work, *command, script=workflow.project / "scripts" / "desk.py")
            )
            return desks[-1]

        try:
            desk, page = open_desk(), open_pages()
            page.goto(f"{desk.address}seat")
            headings: list[str] = []
            while len(headings) < ROUNDS + 4:
                page.get_by_role("heading", name="Your answer").wait_for()
                headings.append(page.locator("h1").inner_text())
                for name in ("verdict", "statement, round 1"):
                    if name in headings[-1]:
                        check_page(page, axe, tmp_path, name)
                answer_question(page, len(headings))
                page.wait_for_load_state()
                if len(headings) == 3:  # Snakemake continues alone, and the next desk waits for it
                    desk.kill()
                    desk = open_desk()
                    page.goto(f"{desk.address}seat")
            page.get_by_text("No debate can continue now").wait_for()
            check_page(page, axe, tmp_path, "pause")
        finally:
            for open_process in desks:
                open_process.kill()
    assert sorted(headings) == [
        *(f"Human: statement, round {number}" for number in (1, 2, 3)),
        *(f"Judge: belief, round {number}" for number in (1, 2, 3)),
        "Judge: verdict",
    ]
    for name, seat in (("trial", "judge"), ("ask", "human")):
        utterances = pd.concat(
            map(
                pd.read_parquet,
                (workflow.work / "results" / "transcripts" / name).rglob("*.parquet"),
            )
        )
        assert set(utterances.loc[utterances["speaker"] == seat, "source"]) == {"human"}
        assert set(utterances.loc[utterances["speaker"] != seat, "source"]) == {"model", "computed"}
        [conclusion] = utterances.loc[utterances["kind"] == "conclusion", "parsed"]
        assert json.loads(conclusion)["status"] != "waiting"
    log = (workflow.work / "data" / "desk.log").read_text()
    assert "LockException" not in log and "Traceback" not in log


def test_a_table_of_weighed_factors_can_be_filled_in_by_everyone(
    desks: Any, open_pages: Any, axe: str, tmp_path: Path
) -> None:
    program = tmp_path / "hold.py"
    program.write_text(PROGRAM)
    support = str(PROJECT / "tests/support")
    with FaultServer() as server:
        process = forks.run(program, server.url, cwd=tmp_path, project=PROJECT, PYTHONPATH=support)
    assert process.returncode == 0, process.stdout
    page = open_pages()
    page.goto(f"{desks().address}seat")
    check_page(page, axe, tmp_path, "table")
    page.get_by_label("Factor", exact=True).first.fill("Two arrests")
    page.get_by_label("Weight").first.select_option("high")
    page.get_by_label("Reasoning").first.fill("They are recent.")
    page.get_by_text("Line 2").click()
    page.get_by_label("Factor", exact=True).nth(1).fill("A job")
    page.get_by_label("Weight").nth(1).select_option("low")
    page.get_by_label("Reasoning").nth(1).fill("It is new.")
    for box in page.locator("input[type=number]").all():
        box.fill("7")
    page.get_by_role("radio", name="YES").check()
    page.get_by_role("button", name="Send").click()
    page.wait_for_load_state()
    [answer] = (tmp_path / "data" / "inbox").rglob("*.answer.txt")
    assert "- A job | low | It is new." in answer.read_text()


def test_a_person_labels_twelve_statements_by_keyboard(
    desks: Any, open_pages: Any, axe: str, tmp_path: Path
) -> None:
    write_sheet(tmp_path, STATEMENTS)
    desk, page = desks(), open_pages()
    page.goto(desk.address)
    check_page(page, axe, tmp_path, "home")
    page.get_by_label("Your name").fill("ann")
    page.get_by_role("button", name="Start labelling").click()
    for number in range(STATEMENTS):
        page.get_by_text(f"{number} of {STATEMENTS} labelled").wait_for()
        page.wait_for_load_state()  # keys pressed before the page is loaded are lost
        if number == 3:
            check_page(page, axe, tmp_path, "label")
        page.keyboard.press(str(1 + number % 7))
        if number == 9:
            page.get_by_text(f"{number + 1} of {STATEMENTS} labelled").wait_for()
            page.wait_for_load_state()
            page.keyboard.press("u")
            page.get_by_text(f"{number} of {STATEMENTS} labelled").wait_for()
            page.wait_for_load_state()
            page.keyboard.press("3")
            page.get_by_text(f"{number + 1} of {STATEMENTS} labelled").wait_for()
            desk.kill()
            desk = desks()
            page.goto(f"{desk.address}label/{SHEET}/ann")
    page.get_by_text("All statements of this sheet are labelled").wait_for()
    sheets = {SHEET: SheetContents({item(number) for number in range(STATEMENTS)}, LABELS)}
    rows, faults = read_annotations(
        sorted((tmp_path / "data" / "annotations").glob("*.csv")), sheets
    )
    assert faults == [] and len(rows) == STATEMENTS and set(rows["annotator"]) == {"ann"}
    assert (
        rows["label"].tolist()[:3] == ["AFFIRM", "REVERSE", "REMAND"]
        and rows["label"].iloc[9] == "REMAND"
    )
