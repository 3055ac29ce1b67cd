"""An experiment may replace single prompt templates; each mistake in them is an error."""

from pathlib import Path
from typing import Any

import pytest
from test_plan import make_plan

from declared_jobs import declared_jobs
from messages import refusal
from moot.papers.wording import MOOT_WORDING, OTHER_WORDING
from moot.plan.papers_of_run import compare_with_papers
from moot.plan.plan import Plan

VERDICT = '{% extends "courtroom/base.jinja" %}{% block instruction %}Decide.{% endblock %}'


@pytest.fixture
def wordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a working directory with two wordings of the verdict."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("plain", VERDICT), ("firm", VERDICT.replace("Decide.", "Decide now."))):
        path = tmp_path / "wordings" / name / "courtroom" / "verdict.jinja"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (tmp_path / "wordings" / "plain" / "README.md").write_text("Why we word it so.")
    return tmp_path / "wordings"


def make_worded_plan(tmp_path: Path, prompts: object = "wordings/plain", **entry: Any) -> Plan:
    return make_plan(tmp_path, {"experiments": {"worded": {**TRIAL, "prompts": prompts, **entry}}})


TRIAL = {"protocol": "courtroom", "dataset": "nlsy97", "models": "small"}


def test_the_place_of_a_wording_changes_no_digest(tmp_path: Path, wordings: Path) -> None:
    debates_job = declared_jobs(make_worded_plan(tmp_path)).of(
        "run_debates", experiment="worded", model="small"
    )
    (wordings / "plain").rename(tmp_path / "moved")
    assert (
        declared_jobs(make_worded_plan(tmp_path, "moved")).of(
            "run_debates", experiment="worded", model="small"
        )
        == debates_job
    )


def test_a_grid_of_wordings_is_one_experiment_each(tmp_path: Path, wordings: Path) -> None:
    plan = make_worded_plan(tmp_path, "", grid={"prompts": ["", "wordings/plain", "wordings/firm"]})
    names = ["worded-prompts=none", "worded-prompts=wordings-plain", "worded-prompts=wordings-firm"]
    assert [name for name in plan.experiments if name.startswith("worded")] == names
    digests = {
        declared_jobs(plan).of("run_debates", experiment=name, model="small").prompts
        for name in names
    }
    assert len(digests) == 3
    assert plan.experiments[names[0]].prompts.digest("courtroom/") == plan.experiments[
        "trial"
    ].prompts.digest("courtroom/")


def test_another_wording_is_not_as_published(tmp_path: Path, wordings: Path) -> None:
    runs = compare_with_papers(make_worded_plan(tmp_path)).runs
    assert runs["worded", "small"].wording == OTHER_WORDING
    assert runs["trial", "small"].wording == MOOT_WORDING


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with refusal():
        make_worded_plan(tmp_path, "nowhere")
    with refusal():
        make_worded_plan(tmp_path, "", grid={"prompts": ["a/b", "a b"]})
