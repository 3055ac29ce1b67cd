"""A run that is killed at any moment goes on where it stopped, asks for nothing twice, and ends as if undisturbed."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, hold, people, start_job
from fault_server import FaultServer
from invented_replies import digest_of
from moot.core.stopping import RUN_FILE
from moot.jobs.predictions import write_predictions
from moot.llm.endpoints.openai import OpenAIEndpoint
from moot.llm.ledger.ledger import Ledger
from moot.llm.request import Message, Request
from moot.plan.plan import Plan
from moot.report import TABLES
from moot.report.content import StudyResults
from moot.report.published import read_published
from moot.report.tables import as_csv
from moot.scores import score_experiment
from moot.scores.results import ExperimentResults
from patience import PATIENCE

KILLS, DEBATES, CONCURRENCY = 25, 24, 8
CALLS = 16 * DEBATES


def durable_digests(config: dict[str, Any]) -> set[str]:
    """The digests, as the server makes them, of the requests whose replies are in the ledger."""
    endpoint = OpenAIEndpoint(Plan.from_yaml(config, PROJECT).config.models[MODEL], 1)
    ledger = Ledger(config["ledger"])
    with ledger._engine.connect() as connection:
        call_ids = [bytes(row[0]).hex() for row in connection.exec_driver_sql("SELECT call_id FROM calls")]
    entries = list(ledger.entries(call_ids))
    assert len(entries) == ledger.spent().calls
    ledger.close()
    digests = set()
    for entry in entries:
        sent = json.loads(entry.request)
        assert sent.pop("served_as").startswith("http://127.0.0.1:")
        sent["messages"] = tuple(Message(*message) for message in sent["messages"])
        digests.add(digest_of(endpoint.body(Request(**sent))))
    return digests


def tables_of(config: dict[str, Any], folder: Path, cases: Path, transcripts: Path) -> dict[str, str]:
    """The scores and the study's final tables of a run as CSV; what the clock decides is left out."""
    plan = Plan.from_yaml(config, PROJECT)
    (folder / "cases").mkdir(parents=True)
    (folder / "cases" / "people.parquet").write_bytes(cases.read_bytes())
    shard = folder / "transcripts" / EXPERIMENT / MODEL / "0.parquet"
    shard.parent.mkdir(parents=True)
    shard.write_bytes(transcripts.read_bytes())
    predictions, calls = (folder / kind / EXPERIMENT / f"{MODEL}.parquet" for kind in ("predictions", "calls"))
    write_predictions(plan, EXPERIMENT, cases, [shard], predictions, calls)
    experiment = ExperimentResults(folder, EXPERIMENT, plan.experiments[EXPERIMENT].config, 1)
    scores = score_experiment(experiment)
    scores = scores[~scores["metric"].str.contains("seconds")]
    published = read_published(PROJECT / "data" / "published" / "published_results.csv")
    results = StudyResults(
        "courtroom", {EXPERIMENT: experiment}, scores, {}, published[published["study"] == "courtroom"]
    )
    tables = {name: as_csv(TABLES[name].build(results)) for name in TABLES if TABLES[name].study == "courtroom"}
    return {"scores": scores.to_csv(index=False), **tables}


def test_killed_at_25_moments_and_none_the_worse(server: FaultServer, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", DEBATES)
    server.reset(latency=0.02)
    undisturbed = configuration(server.url, tmp_path / "undisturbed", {"concurrency": CONCURRENCY})
    hold(undisturbed, cases, tmp_path / "undisturbed.parquet")
    assert server.count() == CALLS

    server.reset()
    config = configuration(server.url, tmp_path / "killed", {"concurrency": CONCURRENCY})
    output = tmp_path / "killed.parquet"
    moments = sorted(random.Random(7).sample(range(2, CALLS - CONCURRENCY), KILLS))
    seen = []
    for moment in moments:
        process = start_job(config, cases, output)
        server.wait_for(max(moment, server.count() + 1))
        assert process.pid
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
        assert process.exitcode == -signal.SIGKILL
        assert not output.exists()
        seen.append((durable_digests(config), server.stats()["by_digest"]))
    hold(config, cases, output)

    final = server.stats()["by_digest"]
    assert len(final) == CALLS
    for durable, asked in seen:
        assert {digest: final[digest] for digest in durable} == {digest: asked[digest] for digest in durable}
    # Asked again is only what was under way, up to the disk: at most `concurrency` calls a kill.
    assert 0 < sum(final.values()) - CALLS <= KILLS * CONCURRENCY
    assert output.read_bytes() == (tmp_path / "undisturbed.parquet").read_bytes()
    killed, whole = [
        tables_of(run, tmp_path / f"{name}-results", cases, tmp_path / f"{name}.parquet")
        for name, run in (("killed", config), ("undisturbed", undisturbed))
    ]
    assert killed == whole
    assert "accuracy" in whole["scores"]
    assert len(whole) > 10
    assert "trial" in whole["courtroom/summary"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_lets_replies_under_way_come_in(number: signal.Signals, server: FaultServer, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", DEBATES)
    server.reset(latency=0.2)
    config = configuration(server.url, tmp_path, {"concurrency": CONCURRENCY})
    output = tmp_path / "out.parquet"
    process = start_job(config, cases, output)
    server.wait_for(20)
    assert process.pid
    os.kill(process.pid, number)
    process.join(PATIENCE)
    assert process.exitcode == 1
    asked = server.stats()
    assert asked["requests"] < CALLS
    assert Ledger(config["ledger"]).spent().calls == asked["replies"] == asked["requests"]
    last = (tmp_path / "out.parquet.log").read_text().splitlines()[-1]
    assert f"stopped by {number.name}" in last
    assert "run the same command again to go on" in last
    assert sorted(path.name for path in tmp_path.glob("*out.parquet*")) == ["out.parquet.err", "out.parquet.log"]
    server.reset(latency=0.0)
    hold(config, cases, output)
    assert server.count() == CALLS - asked["requests"]


def test_a_job_ends_when_the_process_that_scheduled_it_is_killed(server: FaultServer, tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", DEBATES)
    server.reset(latency=0.2)
    config = configuration(server.url, tmp_path, {"concurrency": 4})
    holding = "import sys, time; from moot.core.stopping import Run; from pathlib import Path; "
    holding += "Run(Path(sys.argv[1])); print('held', flush=True); time.sleep(600)"
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
    asked = server.stats()
    assert asked["requests"] < CALLS // 2
    assert Ledger(config["ledger"]).spent().calls == asked["replies"] == asked["requests"]
    assert "stopped by the end of its run" in (tmp_path / "out.parquet.log").read_text().splitlines()[-1]


def test_no_job_starts_after_a_terminal_was_closed(tmp_path: Path) -> None:
    program = "import signal, sys; from pathlib import Path; from moot.core.stopping import Run; "
    program += "signal.signal(signal.SIGTERM, lambda *_: print('no further job', flush=True)); "
    program += (
        "run = Run(Path(sys.argv[1])); print('held', flush=True); signal.pause(); sys.stdin.read(); print(run.end())"
    )
    command, environment = (
        [sys.executable, "-c", program, str(tmp_path)],
        {**os.environ, "PYTHONPATH": str(PROJECT / "scripts")},
    )
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
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


def test_a_signal_does_not_wait_for_a_server_that_hangs(server: FaultServer, tmp_path: Path) -> None:
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
