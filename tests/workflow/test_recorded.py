"""Existing results through the workflow, by configuration alone.

They are the shipped numbers, the user's own, and other files.

Slow: only this test detects recorded results that rules, rather than functions, lose.
"""

import re
from typing import Any

import pandas as pd
import pytest

from fault_server import FaultServer
from nyu_debates import BELIEFS, published_debates
from project_copy import Workflow

pytestmark = pytest.mark.slow

TABLES = tuple(
    f"results/tables/recorded/{name}.csv"
    for name in (
        "methods",
        "nyu_judges",
        "deferral",
        "rejudged",
        "contrasts",
    )
)
OWN_RECORDS = """id,arm,who,said,gold,sure,sex
c1,debate,gpt-x,YES,YES,80,female
c1,debate,gpt-x,NO,YES,60,female
c2,debate,gpt-x,UNKNOWN,NO,,male
c3,debate,gpt-x,NO,NO,90,male
"""
CONFIGURATION: dict[str, Any] = {
    "run": [
        "nyu-people-consult",
        "my-results",
        "fetched",
        "again",
    ],
    "models/my-model": {"endpoint": "recorded", "model": "gpt-x"},
    "datasets/mine": {
        "loader": "transcripts",
        "path": "answers.csv",
        "columns": {
            "debate": "",
            "case": "id",
            "method": "arm",
            "model": "who",
            "answer": "said",
            "truth": "gold",
            "confidence": "sure",
            "attributes": ["sex"],
        },
        "labels": {"NO": "no", "YES": "yes"},
        "positive": "yes",
    },
    "datasets/nyu-fetched": {"loader": "nyu_debates", "source": "download"},
    "experiments/fetched": {
        "source": "recorded",
        "dataset": "nyu-fetched",
        "models": "human-judge",
        "params": {"method": "people debate"},
    },
    "models/second": {
        "endpoint": "openai",
        "model": "second",
        "max_tokens": 50,
    },
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
    "experiments/my-results": {
        "source": "recorded",
        "dataset": "mine",
        "models": "my-model",
        "params": {"method": "debate"},
    },
}


@pytest.fixture(scope="module")
def built(server: FaultServer, tmp_path_factory: pytest.TempPathFactory) -> Workflow:
    """Recorded experiments, and one of them before other judges; their tables built."""
    workflow = Workflow(tmp_path_factory.mktemp("recorded"), server.url, ("deferral",))
    workflow.configure({**CONFIGURATION, "models/second/base_url": server.url})
    (workflow.work / "answers.csv").write_text(OWN_RECORDS)
    served = tmp_path_factory.mktemp("served")
    with published_debates(served, 2, workflow.project / "data" / "versions.csv"):
        frozen = workflow.run("freeze")
        assert (
            "judges: again/served against again/second, accuracy, first_higher" in frozen.stdout
        ), frozen.stdout
        process = workflow.run(*TABLES)
    assert process.returncode == 0, process.stdout[-4000:]
    return workflow


def test_answers_without_a_decision_are_invalid(built: Workflow) -> None:
    mine = pd.read_parquet(built.work / "results/predictions/my-results/my-model.parquet")
    answers = (
        mine[["case_id", "repeat", "prediction", "status"]].astype(object).where(mine.notna(), None)
    )
    assert sorted(answers.itertuples(index=False, name=None)) == [
        ("c1", 0, "yes", "valid"),
        ("c1", 1, "no", "valid"),
        ("c2", 0, None, "invalid"),
        ("c3", 0, "no", "valid"),
    ]


def test_debates_are_downloaded_with_their_words(built: Workflow) -> None:
    utterances = pd.read_parquet(built.work / "results/transcripts/fetched/human-judge/0.parquet")
    speeches = utterances[utterances["kind"] == "speech"]
    assert len(speeches) == 8
    assert set(speeches["text"]) >= {"No. “the keeper”"}
    assert len(pd.read_csv(built.work / "results/downloads/nyu_debates.csv")) == 3


def test_tables_show_every_recorded_experiment(built: Workflow) -> None:
    methods = pd.read_csv(built.work / TABLES[0]).set_index(["data", "method"])
    assert methods.loc[("mine", "debate"), ["cases", "answers", "valid share"]].tolist() == [
        3,
        4,
        0.75,
    ]
    assert methods.loc[("mine", "debate"), "accuracy by case"] == pytest.approx(0.5)
    judges = pd.read_csv(built.work / TABLES[1]).set_index("arm")
    assert judges.loc["people consult", ["debates", "published"]].tolist() == [96, 0.74]
    assert judges.loc["people consult", "ours"] == pytest.approx(0.745, abs=0.0005)


def test_scores_follow_as_for_any_experiment(built: Workflow) -> None:
    scores = pd.read_parquet(built.work / "results/scores/my-results.parquet")
    mine = scores[(scores["model"] == "my-model") & (scores["metric"] == "accuracy")].set_index(
        "group"
    )
    accuracy = mine.loc["overall"]
    assert (accuracy["n"], accuracy["n_invalid"]) == (3, 1)
    assert accuracy["value"] == pytest.approx(2 / 3)
    assert {"sex=female", "sex=male"} <= set(mine.index)


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


def test_judges_of_the_same_debates_are_compared(built: Workflow) -> None:
    rejudged = pd.read_csv(built.work / TABLES[3]).set_index(["debates of", "judge"])
    for judge in ("served", "second"):
        row = rejudged.loc[("fetched", judge)]
        assert row[["beliefs", "debates"]].tolist() == [4, 2]
        assert row["recorded belief"] == pytest.approx((BELIEFS[1][0] + BELIEFS[2][0]) / 2)


def test_planned_comparisons_are_tested_and_the_report_says_that_they_were_frozen(
    built: Workflow,
) -> None:
    frame = pd.read_csv(built.work / TABLES[4], keep_default_na=False).set_index("contrast")
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
    page = (built.work / TABLES[4]).with_suffix(".html").read_text()
    assert "This run is the plan that was frozen last, at 20" in page
    assert "(data/frozen/plan-1.yaml), when the ledger held 0 replies." in page


def test_recorded_debates_run_before_debates_by_models(built: Workflow) -> None:
    recorded = ("recorded_nyu-people-consult", "recorded_my-results")
    process = built.run(*TABLES, "--forcerun", "run_debates", *recorded, "--dry-run")
    blocks = re.split(r"\n(?:local)?rule ", process.stdout)[1:]
    priorities = {
        block.partition(":")[0]: int(re.search(r"priority: (\d+)", block)[1]) for block in blocks
    }
    first, second = (priorities[rule] for rule in recorded)
    assert first == second > priorities["run_debates"]
