"""Existing results through the workflow, by configuration alone.

Slow: only this test detects recorded results that rules, rather than functions, lose.
"""

import re
from typing import Any

import pandas as pd
import pytest

from fault_server import FaultServer
from nyu_debates import published_debates
from project_copy import Workflow

pytestmark = pytest.mark.slow

CONTRASTS = "results/tables/recorded/contrasts.csv"
CONFIGURATION: dict[str, Any] = {
    "run": ["nyu-people-consult", "fetched", "again"],
    "datasets/nyu-fetched": {"loader": "nyu_debates", "source": "download"},
    "experiments/fetched": {
        "source": "recorded",
        "dataset": "nyu-fetched",
        "models": "human-judge",
        "params": {"method": "people debate"},
    },
    "models/second": {"model": "second", "max_tokens": 50},
    "experiments/again": {
        "protocol": "rejudge",
        "dataset": "nyu-fetched",
        "models": ["served", "second"],
        "params": {"source_experiment": "fetched", "source_model": "human-judge"},
    },
    "contrasts/judges": {
        "first": "again/served",
        "second": "again/second",
        "direction": "first_higher",
    },
}


@pytest.fixture(scope="module")
def built(server: FaultServer, tmp_path_factory: pytest.TempPathFactory) -> Workflow:
    """Recorded experiments, and one of them before other judges; their tables built."""
    workflow = Workflow(tmp_path_factory.mktemp("recorded"), server.url, ())
    workflow.configure({**CONFIGURATION, "models/second/base_url": server.url})
    served = tmp_path_factory.mktemp("served")
    with published_debates(served, 2, workflow.project / "data" / "versions.csv"):
        frozen = workflow.run("freeze")
        assert (
            "judges: again/served against again/second, accuracy, first_higher" in frozen.stdout
        ), frozen.stdout
        process = workflow.run(CONTRASTS)
    assert process.returncode == 0, process.stdout[-4000:]
    return workflow


def test_debates_are_judged_again_round_by_round_and_no_debater_is_asked(
    built: Workflow, server: FaultServer
) -> None:
    """Two debates of two rounds before two judges."""
    transcripts = pd.read_parquet(built.work / "results/transcripts/again/second/0.parquet")
    debate = transcripts[transcripts["debate_id"] == "the-lamp-0#0"]
    turns = list(debate[["speaker", "kind", "round"]].itertuples(index=False, name=None))
    speeches = [("debater a", "speech"), ("debater b", "speech")]
    expected = [("recorded judge", "belief", 0)]
    for number in (1, 2):
        in_round = [*speeches, ("recorded judge", "belief"), ("judge", "belief")]
        expected += sorted((*turn, number) for turn in in_round)
    assert sorted(turns[:-1], key=lambda turn: (turn[2], turn[0])) == sorted(
        expected, key=lambda turn: (turn[2], turn[0])
    )
    assert set(transcripts.loc[transcripts["call_id"] != "", "speaker"]) == {"judge"}
    calls = {
        run: len(pd.read_parquet(built.work / f"results/calls/{run}.parquet"))
        for run in ("again/served", "again/second")
    }
    assert calls == {"again/served": 4, "again/second": 4}
    assert server.count() == sum(calls.values())


def test_a_judge_reads_the_rounds_so_far_and_never_the_recorded_judge(built: Workflow) -> None:
    calls = pd.read_parquet(built.work / "results/calls/again/second.parquet")
    requests = sorted(calls["request"], key=len)
    assert [text.count("debater a, round 1: The text says") for text in requests] == [1] * 4
    assert [text.count("debater b, round 2: No.") for text in requests] == [0, 0, 1, 1]
    assert [text.count("Your belief after round 1") for text in requests] == [0, 0, 1, 1]
    assert not any("Go on." in text or "recorded judge" in text for text in requests)


def test_planned_comparisons_are_tested_and_the_report_says_that_they_were_frozen(
    built: Workflow,
) -> None:
    frame = pd.read_csv(built.work / CONTRASTS, keep_default_na=False).set_index("contrast")
    assert frame.loc["judges", ["cases", "tests in family", "not tested because"]].astype(
        str
    ).tolist() == [
        "2",
        "1",
        "",
    ]
    reason = "nyu-people-debate is not part of this run"
    assert frame.loc["nyu-people-debate-above-consultancy", "not tested because"] == reason
    assert "recorded-debate-above-vote" not in frame.index
    page = (built.work / CONTRASTS).with_suffix(".html").read_text()
    assert "This run is the plan that was frozen last, at 20" in page
    assert "(data/frozen/plan-1.yaml), when the ledger held 0 replies." in page


def test_recorded_debates_run_before_debates_by_models(built: Workflow) -> None:
    recorded = ("recorded_nyu-people-consult", "recorded_fetched")
    process = built.run(CONTRASTS, "--forcerun", "run_debates", *recorded, "--dry-run")
    blocks = re.split(r"\n(?:local)?rule ", process.stdout)[1:]
    priorities = {
        block.partition(":")[0]: int(re.search(r"priority: (\d+)", block)[1]) for block in blocks
    }
    first, second = (priorities[rule] for rule in recorded)
    assert first == second > priorities["run_debates"]
