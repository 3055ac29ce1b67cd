"""Debates of a table are judged again, exported and rendered like debates that moot holds."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from fault_server import FaultServer
from in_process import build_experiments, default_configuration
from moot.plan.plan import Plan
from moot.report.debate_texts import read_debates
from moot.report.exports import Export
from moot.scores import score_experiment
from moot.scores.results import ExperimentResults
from project_copy import PROJECT

TALK = """debate,speaker,text,answer,facts
d1,host,Is it red?,,A lamp
d1,Kim,,y,
d1,Lee,,n,
d1,Kim,It is red.,,
d1,Lee,Now I see it.,,
d1,Lee,,y,
d2,Kim,Hm.,,A door
d2,Kim,,n,
"""


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running_server:
        yield running_server


def test_a_model_judges_a_discussion_by_its_words_only(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("talk.csv").write_text(TALK)
    dataset = {
        "loader": "transcripts",
        "path": "talk.csv",
        "columns": {"answer": "answer", "facts": "facts"},
        "labels": {"n": "no", "y": "yes"},
        "truth": "yes",
    }
    rejudged = {
        "protocol": "rejudge",
        "dataset": "talk",
        "models": ["judge"],
        "params": {"source_experiment": "talk", "source_model": "people"},
    }
    config = {
        "run": ["talk", "again"],
        "ledger": "ledger",
        "datasets": {"talk": dataset},
        "models": {
            "people": {"endpoint": "recorded", "model": "recorded"},
            "judge": {"endpoint": "openai", "model": "judge", "base_url": server.url},
        },
        "experiments": {
            "talk": {
                "source": "recorded",
                "dataset": "talk",
                "models": ["people"],
                "params": {"method": "debate"},
            },
            "again": rejudged,
        },
    }
    plan = Plan.from_yaml(default_configuration(config), PROJECT)
    list(build_experiments(plan))
    requests = pd.read_parquet("results/calls/again/judge.parquet")["request"].tolist()
    assert len(requests) == 2
    (request,) = [request for request in requests if "A lamp" in request]
    assert "Now I see it." in request
    assert set(pd.read_parquet("results/predictions/again/judge.parquet")["status"]) == {"valid"}
    talk = ExperimentResults(Path("results"), "talk", plan.view("talk"), plan.config.seed)
    debates = list(read_debates(talk, "people"))
    assert debates[0].facts == "A lamp"
    assert ("Lee", "answer") in {(turn.speaker, turn.kind) for turn in debates[0].turns}
    exported = [debate.name for debate in Export(talk, "people", score_experiment(talk)).debates()]
    assert exported == ["d1#0, Kim", "d1#0, Lee", "d2#0, Kim"]
