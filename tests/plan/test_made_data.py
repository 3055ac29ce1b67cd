"""Data sets that a model made: what makes them runs first, and whatever it depends on, they depend
on.
"""

from pathlib import Path
from typing import Any

import pytest

from declared_jobs import declared_jobs
from moot.core.errors import UserError
from moot.plan.plan import Plan

PROJECT = Path(__file__).resolve().parents[2]
MODEL = {"endpoint": "openai", "model": "x", "base_url": "http://127.0.0.1:9/v1"}


def make_plan(
    data_root: Path, summaries: str = "summarise/gpt-4.1", opinions: str = "opinions-cap"
) -> Plan:
    """Summaries of full opinions as cases, and opinions that no model made."""
    config: dict[str, Any] = {
        "data_root": str(data_root),
        "ledger": str(data_root / "ledger"),
        "seed": 1,
        "shards": 2,
        "models": {"gpt-4.1": MODEL, "tiny": MODEL},
        "datasets": {
            "opinions-cap": {"loader": "cap", "source": "local"},
            "cases": {"loader": "caselaw", "source": "cap", "summaries": summaries},
            "opinions": {"source": "sample"},
        },
        "experiments": {
            "summarise": {"protocol": "case_summary", "dataset": opinions, "models": ["gpt-4.1"]},
            "argue": {"protocol": "zero_shot", "dataset": "cases", "models": ["tiny"]},
            "hear": {"protocol": "zero_shot", "dataset": "opinions", "models": ["tiny"]},
        },
    }
    return Plan.from_yaml(config, PROJECT)


def test_a_loader_says_what_it_needs_and_finds_it(tmp_path: Path) -> None:
    plan = make_plan(tmp_path)
    assert plan.needed_by_dataset("cases") == {"summaries": "summaries/summarise/gpt-4.1.jsonl"}
    assert plan.load_context("cases").artifacts == {
        "summaries": Path("results/summaries/summarise/gpt-4.1.jsonl")
    }
    assert plan.needed_by_dataset("opinions") == {}


def test_its_digests_cover_the_debates_that_made_it(tmp_path: Path) -> None:
    jobs = declared_jobs(make_plan(tmp_path))
    assert (
        jobs.of("load_cases", dataset="cases").prompts
        != jobs.of("load_cases", dataset="opinions").prompts
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"summaries": "sumarise/gpt-4.1"},
            "datasets.cases.summaries: unknown experiment of this run 'sumarise'",
        ),
        (
            {"summaries": "summarise/tiny"},
            "datasets.cases.summaries: unknown model of experiment 'summarise' 'tiny'",
        ),
        ({"summaries": "summarise"}, "datasets.cases.summaries"),
        (
            {"opinions": "cases"},
            "datasets.cases.summaries: experiment 'summarise' argues over 'cases'",
        ),
    ],
)
def test_a_data_set_that_cannot_be_made_is_refused(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        make_plan(tmp_path, **change)


def test_what_no_experiment_of_the_run_is_about_can_be_asked_for_or_says_what_it_needs(
    tmp_path: Path,
) -> None:
    plan = make_plan(tmp_path)
    alone = plan.config.model_copy(update={"run": ("hear",)})
    plan = Plan(alone, PROJECT)
    assert "cases" not in plan.datasets_used
    assert declared_jobs(plan).of("train_baselines", dataset="opinions-cap").options
    with pytest.raises(
        UserError, match=r"datasets.cases.summaries: unknown experiment of this run 'summarise'"
    ):
        plan.check_dataset_source("cases")
