"""Test the process that continues debates for the desk, even if it is killed.

Slow: only this test runs the process and detects lost answers.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import forks
from declared_jobs import declared_jobs
from fault_server import FaultServer
from moot.core.artifacts import atomic_path
from moot.plan.plan import Plan
from moot.plan.plan_cache import write_plan
from moot.workflow import targets
from people_in_debates import answer_all, answer_file, hold, open_questions, plan_debates, statuses
from project_copy import PROJECT

pytestmark = pytest.mark.slow

SCRIPT = PROJECT / "scripts" / "debating.py"
PLAN = Path("kept-plan")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


class DebatingProcess:
    """The process and its pipe, as the desk uses them.

    Args:
        as_fork: whether the process is a fork that has imported moot. A signal does not reach it.
    """

    def __init__(self, *, as_fork: bool) -> None:
        python, address = sys.executable, dict[str, str]()
        if as_fork:
            python, address = forks.python_of(PROJECT)
        self.process = subprocess.Popen(
            [python, str(SCRIPT), str(PLAN)],
            env={**os.environ, **address},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.message_count = 0
        assert self.process.stdin and self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def wait_until_idle(self) -> list[bool]:
        """Wait until all notified answers are processed; return whether results lagged behind."""
        behind_flags = []
        for line in self.stdout:
            read_count, under_way, lags = map(int, line.split())
            behind_flags.append(bool(lags))
            if read_count == self.message_count and not under_way:
                return behind_flags
        raise AssertionError(f"it ended with {self.process.wait()}")

    def notify(self) -> list[bool]:
        self.message_count += 1
        self.stdin.write("\n")
        self.stdin.flush()
        return self.wait_until_idle()


@pytest.fixture
def start_process() -> Iterator[Any]:
    processes: list[DebatingProcess] = []

    def start(*, as_fork: bool = False) -> DebatingProcess:
        processes.append(DebatingProcess(as_fork=as_fork))
        return processes[-1]

    yield start
    for process in processes:
        process.process.kill()
        process.process.wait()
        process.stdout.close()


def write_finished_run(plan: Plan, dataset: str = "people", **digests: str) -> None:
    """Write the plan, and the digests into the file of the cases, as a run does."""
    jobs = declared_jobs(plan)
    path = Path(f"results/cases/{dataset}.parquet")
    expected = {str(path): jobs.of("load_cases", dataset=dataset)._asdict()}
    for shard in targets.shards_with_people(plan):
        experiment, model, _ = Path(shard).parts[-3:]
        job = jobs.of("run_debates", experiment=experiment, model=model)
        expected[shard] = job._asdict()
    write_plan(PLAN, plan, {}, expected)
    table = pq.read_table(path)
    metadata = {name.decode(): value for name, value in table.schema.metadata.items()}
    metadata |= {**expected[str(path)], **digests}
    with atomic_path(path) as part:
        pq.write_table(table.replace_schema_metadata(metadata), part)


def test_the_next_question_appears_without_a_run_even_after_a_crash(
    server: FaultServer, folder: Path, monkeypatch: pytest.MonkeyPatch, start_process: Any
) -> None:
    """The transcript equals one from answers in files with a run after each."""
    plan = plan_debates(server.url, "courtroom", {"judge": "person"})
    hold(plan)
    write_finished_run(plan)
    process, is_behind = start_process(), False
    process.wait_until_idle()
    for number in range(4):
        assert answer_all() == 2
        if number == 1:
            process.process.kill()
            process = start_process(as_fork=True)
            process.wait_until_idle()
        else:
            is_behind = any(process.notify())
        assert is_behind == (number == 3), "all debates are complete"
    assert open_questions() == []
    process.stdin.close()
    assert process.process.wait() == 0
    call_count = server.count()
    rows, transcript = hold(plan), pq.read_table("results/transcripts/0.parquet")
    assert statuses(rows) == ["valid", "valid"] and server.count() == call_count, (
        "all replies are in the ledger"
    )

    second_folder = folder / "by-hand"
    second_folder.mkdir()
    monkeypatch.chdir(second_folder)
    plan = plan_debates(server.url, "courtroom", {"judge": "person"})
    hold(plan)
    while answer_all():
        hold(plan)
    assert pq.read_table("results/transcripts/0.parquet").equals(transcript)


def test_no_model_is_called_for_cases_of_another_configuration(
    server: FaultServer, start_process: Any
) -> None:
    """The next run builds these cases anew, so that calls now would be wasted."""
    plan = plan_debates(server.url, "courtroom", {"judge": "person"})
    hold(plan)
    write_finished_run(plan, options="of another configuration")
    process = start_process(as_fork=True)
    process.wait_until_idle()
    answer_all()
    call_count = server.count()
    process.notify()
    assert server.count() == call_count and open_questions() == []
    write_finished_run(plan)
    process.notify()
    assert server.count() > call_count and len(open_questions()) == 2


def test_an_answer_by_hand_is_read_and_a_faulty_one_waits(
    server: FaultServer, start_process: Any
) -> None:
    plan = plan_debates(server.url, "courtroom", {"judge": "person"})
    hold(plan)
    write_finished_run(plan)
    process, (first, second) = start_process(as_fork=True), open_questions()
    process.wait_until_idle()
    answer_file(first).write_text("Confidence: many\n")
    process.notify()
    assert open_questions() == [second]
    answer_all()
    answer_file(first).write_text(answer_file(second).read_text())
    while len(open_questions()) < 2:  # without a notification
        process.wait_until_idle()


def test_a_changed_plan_ends_the_process(server: FaultServer, start_process: Any) -> None:
    plan = plan_debates(server.url, "courtroom", {"judge": "person"})
    hold(plan)
    write_finished_run(plan)
    process = start_process(as_fork=True)
    process.wait_until_idle()
    write_plan(PLAN, plan, {"seed": 2})
    assert process.process.wait() == 0


def test_pending_replies_are_kept_if_the_desk_is_killed(start_process: Any) -> None:
    """Two debates take 24 calls, however the process ends: no call is paid for twice."""
    with FaultServer(latency=0.5) as server:
        plan = plan_debates(server.url, "courtroom", {"judge": "person"})
        hold(plan)
        write_finished_run(plan)
        for end_signal in (None, signal.SIGINT):
            process = start_process(as_fork=end_signal is None)
            call_count = server.count()
            process.wait_until_idle()
            answer_all()
            process.stdin.write("\n")
            process.stdin.flush()
            server.wait_for(call_count + 1)
            process.process.send_signal(
                end_signal
            ) if end_signal else process.stdin.close()  # as if the desk were killed
            assert process.process.wait() == (1 if end_signal else 0)
            hold(plan)
        while answer_all():
            hold(plan)
        assert statuses(hold(plan)) == ["valid", "valid"] and server.count() == 24
