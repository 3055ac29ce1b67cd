"""The files of a run that its pages and its bundle read."""

from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import PROJECT, configuration
from moot.plan.plan import Plan
from moot.workflow import targets
from moot.workflow.user_files import FROZEN, annotation_files, frozen_files


def test_a_bundle_has_what_was_read_and_transcripts_only_of_labelled_runs() -> None:
    entry: dict[str, Any] = {"dataset": "people", "models": ["test"], "cases": 12}
    experiments = {
        "voiced": {**entry, "protocol": "human_panel", "params": {"seats": {"human": "person"}}},
        "labelled": {**entry, "protocol": "panel", "labelers": ["human"], "rubric": "appellate"},
        "said": {**entry, "source": "recorded", "params": {"method": "debate"}},
    }
    raw = configuration("http://127.0.0.1:9", Path(), experiments=experiments, shards=2)
    plan = Plan.from_yaml(raw, PROJECT)
    assert targets.shards_with_people(plan) == [
        "results/transcripts/voiced/test/0.parquet",
        "results/transcripts/voiced/test/1.parquet",
    ]
    assert targets.bundle_contents(plan) == [
        "results/cases/people.parquet",
        "results/cases/people_cleaning.csv",
        "results/features/people.parquet",
        "results/records/people.parquet",
        "results/calls/voiced/test.parquet",
        "results/calls/labelled/test.parquet",
        "results/calls/said/test.parquet",
        "results/annotations/labelled/test.parquet",
        "results/transcripts/labelled/test/0.parquet",
        "results/transcripts/labelled/test/1.parquet",
    ]
    assert targets.studies() == sorted(set(targets.studies()))
    assert {"appellate", "comparison", "recorded"} < set(targets.studies())


def test_frozen_plans_are_read_in_the_order_of_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    FROZEN.mkdir(parents=True)
    for number in (1, 2, 10):
        (FROZEN / f"plan-{number}.yaml").touch()
    assert [path.name for path in frozen_files()] == ["plan-1.yaml", "plan-2.yaml", "plan-10.yaml"]
    assert annotation_files() == []
