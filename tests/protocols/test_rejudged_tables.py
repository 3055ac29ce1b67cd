"""Debates that came in by a table are judged again, exported and rendered as those held here."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from fault_server import FaultServer
from in_process import build_experiments, default_configuration
from moot.core.config import Publication
from moot.plan.plan import Plan
from moot.report.exports import Export
from moot.report.transcripts import render_markdown
from moot.scores import score_experiment
from moot.scores.results import ExperimentResults
from project_copy import PROJECT

TALK = """debate,speaker,text,answers,facts
d1,host,Is it red?,"{""Kim"": ""y"", ""Lee"": ""n""}",A lamp
d1,Kim,It is red.,,
d1,Lee,Now I see it.,"{""Kim"": ""y"", ""Lee"": ""y""}",
d2,Kim,Hm.,"{""Kim"": ""n""}",A door
"""


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as one:
        yield one


def test_a_model_judges_a_groups_talk_by_its_words_alone(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("talk.csv").write_text(TALK)
    dataset = {
        "loader": "transcripts",
        "path": "talk.csv",
        "columns": {"answers": "answers", "facts": "facts"},
        "labels": {"n": "no", "y": "yes"},
        "truth": "yes",
    }
    again = {
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
            "again": again,
        },
    }
    plan = Plan.from_yaml(default_configuration(config), PROJECT)
    list(build_experiments(plan))
    asked = pd.read_parquet("results/calls/again/judge.parquet")["request"].tolist()
    assert len(asked) == 2 and sum("A lamp" in one and "Now I see it." in one for one in asked) == 1
    assert set(pd.read_parquet("results/predictions/again/judge.parquet")["status"]) == {"valid"}
    talk = ExperimentResults(Path("results"), "talk", plan.view("talk"), plan.config.seed)
    text = "".join(render_markdown(talk, "people"))
    assert "Is it red?" in text and "**Lee, answer**" in text
    exported = [
        debate.name
        for debate in Export(talk, "people", score_experiment(talk), Publication()).debates()
    ]
    assert exported == ["d1#0, Kim", "d1#0, Lee", "d2#0, Kim"]
