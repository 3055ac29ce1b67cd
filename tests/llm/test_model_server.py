"""A job starts its model's server, waits until it answers, and ends it, however the job itself
ends.

Slow: only this test detects servers that outlive the job that started them.
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import PROJECT, configuration, hold, people, start_job
from moot.core.errors import RunStoppedError, UserError
from moot.llm.ledger.ledger import Ledger
from moot.plan.plan import Plan
from patience import PATIENCE, wait_until

pytestmark = pytest.mark.slow

SERVER = f"{sys.executable} {PROJECT / 'tests/support/fault_server.py'} --port {{port}}"
CALLS = 16


def served(folder: Path, command: str, **keys: Any) -> dict[str, Any]:
    """A configuration whose model has a server of each job's own; the command writes its process
    down.
    """
    serve = {"command": f"echo $$ > {folder}/pid; exec {command}", **keys}
    return configuration("", folder, {"base_url": None, "served_as": "tested", "serve": serve})


def has_ended(folder: Path) -> bool:
    """Whether the server that a job started has ended."""
    try:
        state = (
            Path(f"/proc/{int((folder / 'pid').read_text())}/stat")
            .read_text()
            .rpartition(")")[2]
            .split()[0]
        )
    except FileNotFoundError:
        return True
    return state == "Z"  # dead, and not yet reaped


@pytest.fixture(autouse=True)
def _work_in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_server_lives_as_long_as_its_job_and_a_replay_starts_none(tmp_path: Path) -> None:
    cases, config = people(tmp_path / "cases.parquet", 2), served(tmp_path, SERVER)
    transcripts = hold(config, cases, tmp_path / "out.parquet")
    wait_until(lambda: has_ended(tmp_path))
    (log,) = (tmp_path / "results/logs/servers").iterdir()
    assert int(log.read_text()) > 1024, "the port that it was given"
    (tmp_path / "pid").unlink()
    replayed = hold({**config, "replay": True}, cases, tmp_path / "again.parquet")
    assert replayed.equals(transcripts)
    assert not (tmp_path / "pid").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_job_that_is_stopped_or_killed_leaves_no_server(
    number: signal.Signals, tmp_path: Path
) -> None:
    cases, config = (
        people(tmp_path / "cases.parquet", 4),
        served(tmp_path, f"{SERVER} --latency 0.3"),
    )
    job = start_job(config, cases, tmp_path / "out.parquet")
    ledger = Ledger(config["ledger"])
    while not ledger.read_totals().calls:
        assert job.is_alive()
        time.sleep(0.1)
    ledger.close()
    assert job.pid
    os.kill(job.pid, number)
    job.join(PATIENCE)
    assert job.exitcode == (1 if number is signal.SIGTERM else -signal.SIGKILL)
    wait_until(lambda: has_ended(tmp_path))


def test_a_server_that_ends_immediately_is_reported_with_its_last_output(tmp_path: Path) -> None:
    cases, config = (
        people(tmp_path / "cases.parquet", 3),
        served(tmp_path, "bash -c 'echo no such {port} model; exit 3'"),
    )
    with pytest.raises(
        RunStoppedError,
        match=r"server ended with status 3\.(.|\n)*servers/test-.*\n.*no such \d+ model",
    ):
        hold(config, cases, tmp_path / "out.parquet")
    assert len(list((tmp_path / "results/logs/servers").iterdir())) == 1, (
        "started once, not once a debate"
    )


def test_a_server_that_never_answers_is_ended(tmp_path: Path) -> None:
    cases, config = (
        people(tmp_path / "cases.parquet", 3),
        served(tmp_path, "bash -c 'echo {port}; sleep 100'", timeout=1),
    )
    with pytest.raises(
        RunStoppedError, match=r"does not answer at http://127.0.0.1:\d+/v1/models within 1 s"
    ):
        hold(config, cases, tmp_path / "out.parquet")
    wait_until(lambda: has_ended(tmp_path))


def test_a_server_that_stops_ends_the_run_and_its_output_is_kept(tmp_path: Path) -> None:
    cases, config = (
        people(tmp_path / "cases.parquet", 3),
        served(tmp_path, f"{SERVER} --latency 0.1 --max-calls 7"),
    )
    with pytest.raises(RunStoppedError, match="server ended with status 124"):
        hold(config, cases, tmp_path / "out.parquet")
    ledger = Ledger(config["ledger"])
    call_count = ledger.read_totals().calls
    ledger.close()
    assert 0 < call_count < 3 * CALLS
    config = served(tmp_path, SERVER)
    assert len(hold(config, cases, tmp_path / "out.parquet")) > 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"serve": {"command": "vllm serve x"}}, r"must contain \{port\}"),
        ({"served_as": None}, "needs `served_as`"),
        ({"base_url": "http://127.0.0.1:1/v1"}, "cannot be combined with `base_url`"),
        ({"endpoint": "embedded"}, "goes with the endpoints"),
        ({"serve": {"comand": "x {port}"}}, "did you mean 'command'"),
        ({"serve": {"command": "x {port}", "health_path": "health"}}, "health_path"),
    ],
)
def test_a_server_that_cannot_be_started_is_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    config = served(tmp_path, SERVER)
    config["models"]["test"].update(change)
    with pytest.raises(UserError, match=message):
        Plan.from_yaml(config, PROJECT)


def test_jobs_with_own_servers_share_no_limits_and_request_processors(
    tmp_path: Path,
) -> None:
    config = served(tmp_path, SERVER, gpus=2)
    config["models"]["test"].update(jobs=4, concurrency=2)
    plan = Plan.from_yaml(config, PROJECT)
    assert (plan.jobs_at_once("test", 64), plan.gpus(["test"])) == (4, 2)
    assert not plan.config.models["test"].shares_limits
    assert Plan.from_yaml({**config, "replay": True}, PROJECT).gpus(["test"]) == 0
