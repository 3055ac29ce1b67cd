"""What a run of items filled stays filled, in whatever order items are run."""

import random
from pathlib import Path
from typing import Any

import pytest

from moot.core.config_errors import Faults
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import default_files, paper_files
from moot.jobs.earlier_items import join_earlier, plan_of_page, write_record
from moot.papers.items import items_file, read_papers
from moot.papers.selection import add_paper_experiments
from moot.plan.plan import Plan

PROJECT = Path(__file__).resolve().parents[2]
COURTROOM = read_papers(items_file(PROJECT))["courtroom"]
NAMES = ("table4", "table5", "table6", "figure2", "figure4", "figure5")
ITEMS = [f"courtroom/{name}" for name in NAMES]


def configuration(**papers: Any) -> dict[str, Any]:
    files = default_files(PROJECT)
    if not papers:  # the other documented way
        files = [*files, *paper_files(PROJECT)]
        return merge_over_defaults({"run": ["paper-zero-shot"]}, files)
    config = merge_over_defaults({"papers": papers}, files)
    add_paper_experiments(config, PROJECT)
    return config


def run_items(config: dict[str, Any]) -> tuple[Plan, set[tuple[str, str]]]:
    """Run the experiments of a configuration, and return the page's plan and what it may show."""
    plan = Plan.from_yaml(config, PROJECT, default_files(PROJECT), Faults())
    for experiment in plan.experiments.values():
        for model in experiment.config.models:
            path = Path("results", "predictions", experiment.name, f"{model}.parquet")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    page, joined_config = plan_of_page(plan, config, COURTROOM.name)
    write_record(page, joined_config, COURTROOM)
    runs = set[tuple[str, str]]()
    for name, entry in page.experiments.items():
        runs.update((name, model) for model in entry.config.models)
    return page, runs


@pytest.mark.parametrize("seed", range(3))
def test_what_was_filled_stays_filled(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    order: list[dict[str, Any]] = [{"items": item} for item in ITEMS]
    order.append({})
    random.Random(seed).shuffle(order)
    earlier_runs: set[tuple[str, str]] = set()
    for papers in order:
        page, runs = run_items(configuration(**papers))
        assert earlier_runs <= runs, papers
        earlier_runs = runs
        assert page.datasets["paper-nlsy97"].source == "download"


def test_results_of_other_data_are_not_shown_as_the_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made_up = {"datasets": {"nlsy97": "synthetic"}}
    run_items(configuration(items="courtroom/table4", **made_up))
    _, runs = run_items(configuration(items="courtroom/table5"))
    assert {name for name, _ in runs} == {"paper-courtroom"}


def test_a_model_of_an_earlier_run_keeps_its_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_items(configuration(items="courtroom/table5", models="smollm2-135m"))
    config = join_earlier(configuration(items="courtroom/table5"), COURTROOM.name)
    assert "smollm2-135m" in config["experiments"]["paper-courtroom"]["models"]
