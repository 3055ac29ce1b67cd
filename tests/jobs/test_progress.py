"""The progress of debates is estimated from calls.

Debates advance at the same time, so most of them end late.
"""

from pathlib import Path

import pytest

from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, people
from debate_jobs import debate_job
from fault_server import FaultServer
from moot.jobs.standins import calls_per_debate
from moot.plan.plan import Plan


def test_the_calls_of_a_debate_are_counted_without_a_call(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases" / "people.parquet", 30)
    config = configuration(server.url, tmp_path, run=[EXPERIMENT])
    job = debate_job(Plan.from_yaml(config, PROJECT), EXPERIMENT, MODEL, cases, shard=0)
    assert calls_per_debate(job) == 16
    assert server.count() == 0


def test_calls_in_a_debate_with_a_person_are_counted_without_a_question(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cases = people(tmp_path / "cases" / "people.parquet", 2)
    asking = {
        "protocol": "human_panel",
        "params": {"seats": {"human": "person"}, "votes": "likelihood"},
    }
    plan = Plan.from_yaml(configuration(server.url, tmp_path, experiment=asking), PROJECT)
    assert calls_per_debate(debate_job(plan, EXPERIMENT, MODEL, cases)) == 1 + 3 * 2 * 2
    assert not (tmp_path / "data").exists()
