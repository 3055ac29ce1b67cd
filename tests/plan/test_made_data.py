"""Data sets that a model makes: the experiment that makes them runs first."""

from pathlib import Path
from typing import Any

import pytest

from declared_jobs import declared_jobs
from messages import refusal
from moot.plan.plan import Plan
from moot.plan.plan_steps import artifacts_of_dataset, check_dataset_source

PROJECT = Path(__file__).resolve().parents[2]
MODEL = {"endpoint": "openai", "model": "x", "base_url": "http://127.0.0.1:9/v1"}


def make_plan(
    data_root: Path, summaries: str = "summarise/gpt-4.1", opinions: str = "full-opinions"
) -> Plan:
    """Return a plan with summaries of full opinions as cases, and with opinions of a sample."""
    config: dict[str, Any] = {
        "data_root": str(data_root),
        "ledger": str(data_root / "ledger"),
        "seed": 1,
        "shards": 2,
        "models": {"gpt-4.1": MODEL, "tiny": MODEL},
        "datasets": {
            "full-opinions": {
                "loader": "table",
                "path": str(data_root / "opinions.csv"),
                "text": "text",
                "target": "outcome",
            },
            "cases": {"loader": "caselaw", "source": "summaries", "summaries": summaries},
            "opinions": {"source": "sample"},
        },
        "experiments": {
            "summarise": {"protocol": "case_summary", "dataset": opinions, "models": ["gpt-4.1"]},
            "argue": {"protocol": "zero_shot", "dataset": "cases", "models": ["tiny"]},
            "hear": {"protocol": "zero_shot", "dataset": "opinions", "models": ["tiny"]},
        },
    }
    return Plan.from_yaml(config, PROJECT)


def test_a_loader_finds_the_artifacts_that_it_needs(tmp_path: Path) -> None:
    plan = make_plan(tmp_path)
    assert artifacts_of_dataset(plan.datasets, "cases") == {
        "summaries": "summaries/summarise/gpt-4.1.jsonl"
    }
    assert plan.load_context("cases").artifacts == {
        "summaries": Path("results/summaries/summarise/gpt-4.1.jsonl")
    }
    assert artifacts_of_dataset(plan.datasets, "opinions") == {}


@pytest.mark.parametrize(
    "change",
    [
        {"summaries": "sumarise/gpt-4.1"},
        {"summaries": "summarise/tiny"},
        {"summaries": "summarise"},
        {"opinions": "cases"},
    ],
)
def test_a_data_set_without_its_source_is_an_error(tmp_path: Path, change: dict[str, str]) -> None:
    with refusal():
        make_plan(tmp_path, **change)


def test_an_unused_data_set_can_be_requested_or_states_what_it_needs(
    tmp_path: Path,
) -> None:
    plan = make_plan(tmp_path)
    config = plan.config.model_copy(update={"run": ("hear",)})
    plan = Plan(config, PROJECT)
    assert "cases" not in plan.datasets_used
    assert declared_jobs(plan).of("train_baselines", dataset="full-opinions").options
    with refusal():
        check_dataset_source("cases", plan.datasets, plan.experiments, plan.files)
