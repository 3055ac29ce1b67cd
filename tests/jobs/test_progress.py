"""The progress of debates is estimated from calls.

Debates advance at the same time, so most of them end late.
"""

import asyncio
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, people
from debate_jobs import debate_job
from fault_server import FaultServer
from moot.jobs.standins import (
    PlaceholderPeople,
    Placeholders,
    PreviewLedger,
    calls_per_debate,
    run_with_placeholders,
)
from moot.llm.progress import Progress
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


def test_placeholders_stand_for_missing_artifacts_that_other_debates_read(tmp_path: Path) -> None:
    cases = people(tmp_path / "cases.parquet", 2)
    entry = {"dataset": "people", "models": [MODEL]}
    reading = [
        ("rejudge", {"source_experiment": EXPERIMENT, "source_model": MODEL}),
        ("self_consistency", {"k": "matched", "source_experiment": EXPERIMENT}),
    ]
    experiments = {name: {**entry, "protocol": name, "params": params} for name, params in reading}
    config = configuration("http://127.0.0.1:9", tmp_path, shards=2)
    config["experiments"] |= experiments
    plan = Plan.from_yaml(config, PROJECT)
    folder, results = tmp_path / "placeholders", tmp_path / "results"
    with closing(PreviewLedger(config["ledger"])) as ledger:
        placeholders = Placeholders(plan, ledger, folder)
        for name in (EXPERIMENT, "rejudge"):
            job = debate_job(plan, EXPERIMENT, MODEL, cases)
            progress = Progress(name)
            debates = asyncio.run(run_with_placeholders(job, ledger, progress, PlaceholderPeople()))
            placeholders.write(name, MODEL, debates)
    written = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.parquet"))
    predictions = f"predictions/{EXPERIMENT}/{MODEL}.parquet"
    shards = [f"transcripts/{EXPERIMENT}/{MODEL}/{shard}.parquet" for shard in range(2)]
    assert written == [predictions, *shards]
    paths = {name: results / name for name in (*written, "cases/people.parquet")}
    assert placeholders.substitute(paths, results) == {name: folder / name for name in written}
    costs = pd.read_parquet(folder / predictions)
    assert list(costs["calls"]) == [16, 16] and (costs["completion_tokens"] > 0).all()
    transcripts, second_shard = (pd.read_parquet(folder / shard) for shard in shards)
    utterances = transcripts[transcripts["text"] != ""]
    assert len(second_shard) == 0 and transcripts["debate_id"].nunique() == 2
    assert len(utterances) > 20
    for text, debate_id in utterances[["text", "debate_id"]].to_numpy():
        assert text.endswith(f" {debate_id}")
