"""After a change the debates and items that depend on it run again, and no others."""

from pathlib import Path
from typing import Any

import pytest

from declared_jobs import declared_jobs
from moot.core.config_errors import Faults
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import default_files
from moot.plan.plan import Plan

PROJECT = Path(__file__).resolve().parents[2]
PAGES = ("appellate", "decision_conference", "courtroom", "feedback")
CHANGES = {
    "courtroom-nlsy97": ("courtroom/verdict.jinja", "courtroom"),
    "multiagent-panel": ("panel/statement.jinja", "appellate"),
    "stance-claims": ("stance/stance.jinja", "decision_conference"),
    "conference": ("conference/statement.jinja", "decision_conference"),
    "feedback-training-caselaw": ("feedback/verdict.jinja", "feedback"),
}
"""An experiment to a template of its prompts, and the paper that shows it."""

RESTS_ON = {"courtroom-nlsy97": {"what-moved-nlsy97"}}
"""An experiment to those that ask again about its debates."""


def plan_of_defaults(**changes: Any) -> Plan:
    files = default_files(PROJECT)
    raw = merge_over_defaults({}, files)
    for experiment, prompts in changes.items():
        raw["experiments"][experiment]["prompts"] = prompts
    return Plan.from_yaml(raw, PROJECT, files, Faults())


@pytest.mark.parametrize("experiment", CHANGES)
def test_a_changed_prompt_reruns_dependent_debates_and_pages(
    experiment: str, tmp_path: Path
) -> None:
    template, paper = CHANGES[experiment]
    path = tmp_path / "prompts" / template
    path.parent.mkdir(parents=True)
    text = (PROJECT / "config/prompts" / template).read_text(encoding="utf-8")
    path.write_text(f"{text}\nTake your time.\n", encoding="utf-8")
    plan = plan_of_defaults()
    jobs = declared_jobs(plan)
    changed_jobs = declared_jobs(plan_of_defaults(**{experiment: str(tmp_path / "prompts")}))
    pages = set()
    for page in PAGES:
        inputs = " ".join(jobs.inputs[f"paper_{page}"]["results"])
        if f"/{experiment}/" in inputs:
            pages.add(page)
    assert pages == {paper}
    debates = set()
    for name, entry in plan.experiments.items():
        for model in entry.config.models:
            job = {"experiment": name, "model": model}
            if jobs.of("run_debates", **job) != changed_jobs.of("run_debates", **job):
                debates.add(name)
    assert debates - RESTS_ON.get(experiment, set()) == {experiment}
