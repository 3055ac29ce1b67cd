"""Test a user's loader of recorded debates, from its records to predictions and scores."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from in_process import RESULTS, build_experiments
from messages import refusal
from moot.core.extensions import FOLDERS
from moot.datasets import LOADERS
from moot.plan.plan import Plan
from project_copy import PROJECT

EXTENSION = '''
from collections.abc import Iterator

from moot.core.cases import Case, Task
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset
from moot.datasets.debate_records import RecordedDebate, RecordedUtterance

TASK = Task("the coin", "Which side is up?", labels=("tails", "heads"), positive="heads")


class Options(DatasetOptions):
    stray: bool = False


def read(options: Options, context: LoadContext) -> Iterator[RecordedDebate]:
    """One model always says heads; the other has five coins and no answer for the last one."""
    for number in range(10):
        text = "</script><b>heads\\\\input{x}</b>"
        speech = RecordedUtterance("pat", "speech", text, prediction="heads", confidence=70)
        case_id = f"coin-{number}"
        yield RecordedDebate("debate", "always", case_id, 0, "heads", 70, utterances=[speech])
    for number in range(5):
        answer, problem = TASK.labels[number % 2], ""
        if number == 4:
            answer, problem = None, "it rolled away"
        yield RecordedDebate("debate", "seeing", f"coin-{number}", 0, answer, problem=problem)
    if options.stray:
        yield RecordedDebate("debate", "always", "coin-99", 0, "heads")


@dataset("kept_coins", Options, records=read)
def load(options: Options, context: LoadContext) -> Loaded:
    """Ten coins, every other one heads."""
    cases = []
    for n in range(10):
        target = TASK.labels[n % 2]
        cases.append(Case(f"coin-{n}", context.name, "test", f"Coin {n}.", target, TASK.labels))
    return Loaded(cases, TASK)
'''


@pytest.fixture(scope="module", autouse=True)
def _unregistered() -> Iterator[None]:
    """Take the loader away after the tests of this file; other tests list all loaders."""
    yield
    for entries in (LOADERS._entries, LOADERS.places, LOADERS.extensions):
        entries.pop("kept_coins", None)


def make_plan(folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Plan:
    monkeypatch.chdir(folder)
    monkeypatch.delitem(FOLDERS, "moot.extensions.coin_records", raising=False)
    monkeypatch.setenv("MOOT_EXTENSIONS", os.environ.get("MOOT_EXTENSIONS", ""))
    Path("coin_records").mkdir()
    Path("coin_records/data.py").write_text(EXTENSION, encoding="utf-8")
    models = {name: {"endpoint": "recorded", "model": name} for name in ("always", "seeing")}
    config = {
        "seed": 1,
        "extensions": ["coin_records"],
        "min_debates": 1,
        "models": models,
        "datasets": {"coins": {"loader": "kept_coins", "source": "local", **options}},
        "experiments": {
            "held": {
                "source": "recorded",
                "dataset": "coins",
                "models": list(models),
                "params": {"method": "debate"},
            }
        },
    }
    return Plan.from_yaml(config, PROJECT)


def test_recorded_debates_of_an_extension_are_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    list(build_experiments(make_plan(tmp_path, monkeypatch)))
    always_heads = pd.read_parquet(RESULTS / "predictions/held/always.parquet")
    follows_coin = pd.read_parquet(RESULTS / "predictions/held/seeing.parquet")
    assert (len(always_heads), len(follows_coin)) == (10, 5)
    assert follows_coin["status"].value_counts().to_dict() == {"valid": 4, "invalid": 1}
    scores = pd.read_parquet(RESULTS / "scores/held.parquet")
    overall = scores[scores["group"] == "overall"].set_index(["metric", "model"])["value"]
    assert (overall["accuracy", "always"], overall["accuracy", "seeing"]) == (0.5, 1.0)
    assert overall["accuracy_invalid_wrong", "always"] == 0.5
    assert overall["accuracy_invalid_wrong", "seeing"] == 0.8
    transcript = pd.read_parquet(RESULTS / "transcripts/held/always/0.parquet")
    assert (
        transcript.loc[transcript["kind"] == "speech", "text"].nunique() == 1
        and (transcript["speaker"] == "pat").sum() == 10
    )


def test_a_record_of_an_unknown_case_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(tmp_path, monkeypatch, stray=True)
    with refusal():
        list(build_experiments(plan))
