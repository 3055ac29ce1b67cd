"""The job of a page builds no plan: it reads that of its run, with the papers' designs in it."""

import json
from pathlib import Path
from typing import Any

import pytest

from in_process import default_configuration
from moot.core.read_config import merge_over_defaults
from moot.jobs.earlier_items import plan_of_page, record_path
from moot.jobs.papers import write_paper
from moot.papers.items import items_file, read_papers
from moot.plan.papers_of_run import compare_with_papers, designs_of, read_designs, view_paper
from moot.plan.plan import Plan
from moot.plan.plan_cache import read_plan, write_plan
from moot.protocols import PROTOCOLS
from project_copy import PROJECT


def test_a_page_is_written_without_building_a_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = Plan.from_yaml(default_configuration({}), PROJECT)
    compare_with_papers(plan)
    write_plan(tmp_path / "plan", plan, {})
    _, load = read_plan(tmp_path / "plan")

    def refuse(*_: Any) -> None:
        raise AssertionError("a job builds a plan")

    read_designs.cache_clear()
    monkeypatch.setattr(Plan, "__init__", refuse)
    paper = read_papers(items_file(PROJECT))["appellate"]
    write_paper(view_paper(load(), paper), [])
    page = (tmp_path / "results/papers/appellate.html").read_text(encoding="utf-8")
    assert "paper-multiagent-panel" in page


def test_a_page_with_earlier_results_reads_no_design_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    raw = default_configuration({})
    plan = Plan.from_yaml(raw, PROJECT)
    plan.designs = designs = dict(designs_of(plan))  # as a job unpickles them
    earlier = merge_over_defaults({}, [PROJECT / "config/papers/appellate.yaml"])
    record_path("appellate").parent.mkdir(parents=True)
    record_path("appellate").write_text(json.dumps(earlier), encoding="utf-8")
    joined_plan, _ = plan_of_page(plan, raw, "appellate")
    assert joined_plan is not plan and "paper-multiagent-panel" in joined_plan.experiments
    assert designs_of(joined_plan) is designs


def test_parameters_that_name_experiments_are_stated() -> None:
    for name in PROTOCOLS:
        params = PROTOCOLS[name].params
        own_fields = set(params.experiment_fields) & params.model_fields.keys()
        assert own_fields >= {field for field in params.model_fields if "experiment" in field}
    # A parameter whose value is an experiment's name by chance is no dependency.
    feedback = PROTOCOLS["feedback"].params
    assert feedback.named_experiments({"assistant": "training", "answer": "auto"}) == ["training"]
