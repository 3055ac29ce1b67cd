"""The job of a page builds no plan: it reads that of its run, with the papers' designs in it."""

from html import escape
from pathlib import Path
from typing import Any

import pytest

from in_process import default_configuration
from moot.jobs.papers import write_paper
from moot.plan.papers_of_run import compare_with_papers, read_designs, view_paper
from moot.plan.plan import Plan
from moot.plan.plan_cache import read_plan, write_plan
from moot.protocols import PROTOCOLS
from moot.report.published import read_findings
from paper_items import PAPERS
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
    write_paper(view_paper(load(), PAPERS["appellate"]), [])
    page = (tmp_path / "results/papers/appellate.html").read_text(encoding="utf-8")
    assert "paper-multiagent-panel" in page
    findings = read_findings(PROJECT / "data/published/findings.csv")
    for name in ("appellate/text", "appellate/table2"):
        for sentence in findings[name]:
            assert escape(sentence) in page


def test_parameters_that_name_experiments_are_stated() -> None:
    for name in PROTOCOLS:
        params = PROTOCOLS[name].params
        own_fields = set(params.experiment_fields) & params.model_fields.keys()
        assert own_fields >= {field for field in params.model_fields if "experiment" in field}
    # A parameter whose value is an experiment's name by chance is no dependency.
    feedback = PROTOCOLS["feedback"].params
    assert feedback.named_experiments({"assistant": "training", "answer": "auto"}) == ["training"]
