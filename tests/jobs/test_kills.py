"""A killed run continues, repeats no stored call, and ends like an undisturbed run.

Slow: only this test detects replies that a killed process loses or repeats.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from courtroom_runs import PROJECT, configuration, people, start_job
from fault_server import FaultServer
from killed_runs import CALLS, DEBATES, kill_and_compare
from moot.core.run_signals import RUN_FILE
from moot.llm.ledger.ledger import Ledger
from patience import PATIENCE

pytestmark = pytest.mark.slow


def test_a_job_killed_at_three_moments_gives_the_same_results(
    server: FaultServer, tmp_path: Path
) -> None:
    kill_and_compare(server, tmp_path, 3)


def test_a_job_ends_when_the_process_that_scheduled_it_is_killed(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", DEBATES)
    server.reset(latency=0.2)
    config = configuration(server.url, tmp_path, {"concurrency": 4})
    holding = (
        "import sys, time; from moot.core.run_signals import CurrentRun; from pathlib import Path; "
    )
    holding += "CurrentRun(Path(sys.argv[1])); print('held', flush=True); time.sleep(600)"
    command = [sys.executable, "-c", holding, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT / "scripts")}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as scheduler:
        assert scheduler.stdout
        scheduler.stdout.readline()
        (file,) = tmp_path.glob(".run-*")
        job = start_job(config, cases, tmp_path / "out.parquet", 10.0, 0, {RUN_FILE: str(file)})
        server.wait_for(20)
        assert job.is_alive()
        scheduler.kill()
        job.join(PATIENCE)
    assert job.exitcode == 1
    stats = server.stats()
    assert stats["requests"] < CALLS // 2
    assert Ledger(config["ledger"]).read_totals().calls == stats["replies"] == stats["requests"]
    assert (
        "stopped by the end of its run"
        in (tmp_path / "out.parquet.log").read_text().splitlines()[-1]
    )


def test_no_job_starts_after_the_terminal_is_closed(tmp_path: Path) -> None:
    program = "import signal, sys; from pathlib import Path; "
    program += "from moot.core.run_signals import CurrentRun; "
    program += "signal.signal(signal.SIGHUP, signal.SIG_DFL); "  # the suite may run under nohup
    program += "signal.signal(signal.SIGTERM, lambda *_: print('no further job', flush=True)); "
    program += (
        "run = CurrentRun(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read();"
        " print(run.end())"
    )
    command, environment = (
        [sys.executable, "-c", program, str(tmp_path)],
        {**os.environ, "PYTHONPATH": str(PROJECT / "scripts")},
    )
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stderr.close()
        assert process.stdout.readline() == "held\n"
        assert len(list(tmp_path.glob(".run-*"))) == 1
        process.send_signal(signal.SIGHUP)
        assert process.stdout.readline() == "no further job\n"
        assert not list(tmp_path.glob(".run-*"))
        process.stdin.close()
        assert "stopped by SIGHUP" in process.stdout.readline()


def test_a_signal_does_not_wait_for_a_server_that_hangs(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", DEBATES)
    server.reset(faults=["hang"], rate=1.0)
    config = configuration(server.url, tmp_path, {"timeout": 36_000})
    process = start_job(config, cases, tmp_path / "out.parquet", 0.5)
    server.wait_for(10)
    assert process.pid
    os.kill(process.pid, signal.SIGTERM)
    process.join(PATIENCE)
    assert process.exitcode == 1
    server.reset(faults=[])


def test_a_signal_does_not_wait_for_a_rate_limit(server: FaultServer, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", DEBATES)
    server.reset(faults=["rate_limited_retry_after"], rate=1.0, retry_after=36_000)
    process = start_job(configuration(server.url, tmp_path), cases, tmp_path / "out.parquet")
    server.wait_for(1)
    assert process.pid
    os.kill(process.pid, signal.SIGINT)
    process.join(PATIENCE)
    assert process.exitcode == 1
    server.reset(faults=[])
