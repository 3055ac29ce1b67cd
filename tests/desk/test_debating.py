"""The process that goes on with debates beside the desk: what is asked next, and that nothing said
is lost when it dies.

Slow; only it finds a real process beside the desk that loses what was said.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from declared_jobs import declared_jobs
from fault_server import FaultServer
from moot.core.artifacts import atomic_path
from moot.plan.plan import Plan
from moot.plan.plan_cache import write_plan
from moot.workflow import targets
from moot.workflow.records import RECORDS
from people_in_debates import answer_all, answer_file, hold, open_questions, planned, statuses

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "debating.py"
PLAN = Path("kept-plan")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Beside:
    """The process, spoken to as a desk does."""

    def __init__(self) -> None:
        command = [sys.executable, str(SCRIPT), str(PLAN)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.told = 0
        assert self.process.stdin and self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def at_rest(self) -> list[bool]:
        """Wait until all that it was told is held; whether it said meanwhile that results are
        behind.
        """
        behind = []
        for line in self.stdout:
            read, under_way, lags = map(int, line.split())
            behind.append(bool(lags))
            if read == self.told and not under_way:
                return behind
        raise AssertionError(f"it ended with {self.process.wait()}")

    def tell(self) -> list[bool]:
        self.told += 1
        self.stdin.write("\n")
        self.stdin.flush()
        return self.at_rest()


@pytest.fixture
def beside() -> Iterator[Any]:
    begun: list[Beside] = []

    def begin() -> Beside:
        begun.append(Beside())
        return begun[-1]

    yield begin
    for one in begun:
        one.process.kill()
        one.process.wait()
        one.stdout.close()


def keep(plan: Plan, dataset: str = "people", **digests: str) -> None:
    """What a run of Snakemake leaves: the plan, and the record of the job that made the cases."""
    files = declared_jobs(plan).of_files(targets.shards_with_people(plan))
    expected = {path: asdict(value) for path, value in files.items()}
    write_plan(PLAN, plan, {}, expected)
    made = {**expected[f"results/cases/{dataset}.parquet"], **digests}
    record = {"rule": "load_cases", "wildcards": {}, "digests": made, "inputs": {}, "outputs": {}}
    with atomic_path(RECORDS / "cases" / f"{dataset}.parquet.json") as part:
        pd.Series(record).to_json(part)


def test_the_next_question_is_there_without_a_run_though_the_process_is_killed(
    server: FaultServer, folder: Path, monkeypatch: pytest.MonkeyPatch, beside: Any
) -> None:
    """What comes of it is what comes of answers by hand and a run after each, byte for byte."""
    plan = planned(server.url, "courtroom", {"judge": "person"})
    hold(plan)
    keep(plan)
    one, behind = beside(), False
    one.at_rest()
    for number in range(4):
        assert answer_all() == 2
        if number == 1:
            one.process.kill()
            one = beside()
            one.at_rest()
        else:
            behind = any(one.tell())
        assert behind == (number == 3), "all debates have come to an end"
    assert open_questions() == []
    one.stdin.close()
    assert one.process.wait() == 0
    asked = server.count()
    with_desk, written = hold(plan), Path("results/transcripts/0.parquet").read_bytes()
    assert statuses(with_desk) == ["valid", "valid"] and server.count() == asked, (
        "all replies are in the ledger"
    )

    by_hand = folder / "by-hand"
    by_hand.mkdir()
    monkeypatch.chdir(by_hand)
    plan = planned(server.url, "courtroom", {"judge": "person"})
    hold(plan)
    while answer_all():
        hold(plan)
    assert Path("results/transcripts/0.parquet").read_bytes() == written


def test_two_people_in_two_seats_go_on_each_for_themselves(
    server: FaultServer, beside: Any
) -> None:
    seats = {"participant_1": "person:жанна", "participant_2": "person:bob"}
    plan = planned(server.url, "conference", seats, dataset="conference")
    hold(plan)
    keep(plan, "conference")
    one = beside()
    one.at_rest()
    rounds = 0
    while asked := open_questions():
        rounds += 1
        assert len(asked) <= 2
        answer_all()
        one.tell()
    assert rounds > 2
    rows = hold(plan)
    assert statuses(rows) == ["valid"]
    assert {"participant_1", "participant_2"} <= set(rows.loc[rows["source"] == "human", "speaker"])


def test_nothing_is_asked_on_cases_of_another_configuration(
    server: FaultServer, beside: Any
) -> None:
    """A run is about to build them anew: a call made now would be paid for in vain."""
    plan = planned(server.url, "courtroom", {"judge": "person"})
    hold(plan)
    keep(plan, options="of another configuration")
    one = beside()
    one.at_rest()
    answer_all()
    asked = server.count()
    one.tell()
    assert server.count() == asked and open_questions() == []
    keep(plan)
    one.tell()
    assert server.count() > asked and len(open_questions()) == 2


def test_an_answer_by_hand_is_noticed_and_a_faulty_one_waits(
    server: FaultServer, beside: Any
) -> None:
    plan = planned(server.url, "courtroom", {"judge": "person"})
    hold(plan)
    keep(plan)
    one, (first, second) = beside(), open_questions()
    one.at_rest()
    answer_file(first).write_text("Confidence: many\n")
    one.tell()
    assert open_questions() == [second]
    answer_all()
    answer_file(first).write_text(answer_file(second).read_text())
    while len(open_questions()) < 2:  # nobody tells it
        one.at_rest()


def test_a_plan_that_is_another_ends_the_process(server: FaultServer, beside: Any) -> None:
    plan = planned(server.url, "courtroom", {"judge": "person"})
    hold(plan)
    keep(plan)
    one = beside()
    one.at_rest()
    write_plan(PLAN, plan, {"seed": 2})
    assert one.process.wait() == 0


def test_replies_that_are_under_way_when_the_desk_dies_are_kept(beside: Any) -> None:
    """Nothing is paid for twice: two debates take 24 calls, whatever ends the process in
    between.
    """
    with FaultServer(latency=0.5) as server:
        plan = planned(server.url, "courtroom", {"judge": "person"})
        hold(plan)
        keep(plan)
        for end in (None, signal.SIGINT):
            one, asked = beside(), server.count()
            one.at_rest()
            answer_all()
            one.stdin.write("\n")
            one.stdin.flush()
            server.wait_for(asked + 1)
            one.process.send_signal(end) if end else one.stdin.close()  # as when the desk is killed
            assert one.process.wait() == (1 if end else 0)
            hold(plan)
        while answer_all():
            hold(plan)
        assert statuses(hold(plan)) == ["valid", "valid"] and server.count() == 24
