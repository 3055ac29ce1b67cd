"""What jobs depend on: a change of the configuration repeats only jobs whose output it changes."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import changed_plans
from declared_jobs import declared_jobs
from in_process import default_configuration
from moot.core.artifacts import describe, file_digest, write_rows
from moot.core.endpoint_traits import REHEARSAL_MARK
from moot.core.model_config import ModelConfig
from moot.core.schemas import SCHEMAS
from moot.core.utterance_kinds import CALL_FAILED, CONCLUSION, REPLY_PENDING
from moot.plan.plan import Plan
from moot.workflow.dependencies import (
    contrast_options,
    label_prompts,
    presentation_options,
    presented_study,
    reply_options,
)
from moot.workflow.folder import describe_configuration
from moot.workflow.provenance import digests_of, read_digests, read_sources
from moot.workflow.resumed_debates import SHARDS, TIMES_RESUMED, times_resumed
from project_copy import PROJECT

RULES = (
    "load_cases", "run_debates", "predict", "label_statements", "write_annotation_sheet", "score",
    "tables_courtroom",
)  # fmt: skip
LABELS = {"lease": "on the lease", "none": "on nothing"}


def make_plan(change: dict[str, Any]) -> Plan:
    """Return the plan of two experiments, one with labels, and a contrast, with changes."""
    trial = {"dataset": "nlsy97", "models": ["small", "batched"], "cases": 12}
    judged = {"rubric": "grounds", "labelers": ["rules", "judge:other"]}
    served = {"model": "m", "base_url": "http://127.0.0.1:9"}
    batch = {"batch": {"wait": False}}
    configuration = {
        "run": ["resumed", "single"],
        "min_debates": 1,
        "models": {"small": {**served}, "other": {**served}, "batched": {**served, **batch}},
        "datasets": {"nlsy97": {"source": "synthetic"}},
        "rubrics": {"grounds": {"labels": LABELS, "neutral": "none", "rules": {"lease": "lease"}}},
        "experiments": {
            "resumed": {**trial, **judged, "protocol": "courtroom"},
            "single": {**trial, "protocol": "zero_shot"},
        },
        "contrasts": {"x": {"first": "resumed", "second": "single"}},
    }
    for path, value in change.items():
        *keys, last = path.split("/")
        section: Any = configuration
        for key in keys:
            section = section.setdefault(key, {})
        section[last] = value
    return Plan.from_yaml(default_configuration(configuration), PROJECT)


def digests(plan: Plan) -> dict[str, object]:
    """Return the digests of a job of each rule, and of the configuration of its scores."""
    jobs = declared_jobs(plan)
    wildcards = {"experiment": "resumed", "model": "small", "dataset": "nlsy97"}
    folder = describe_configuration(plan, []).experiments["resumed"]
    return {"folder": folder, **{rule: jobs.of(rule, **wildcards) for rule in RULES}}


@pytest.fixture(scope="module")
def unchanged() -> dict[str, object]:
    return digests(make_plan({}))


@pytest.mark.parametrize(
    ("change", "repeated"),
    [
        ({"models/small/concurrency": 3}, ""),
        ({"models/other/model": "b"}, "folder label_statements"),
        ({"seed": 2},
         "folder load_cases run_debates label_statements write_annotation_sheet score"),
        ({"models/small/max_tokens": 3}, "folder run_debates"),
        ({"datasets/nlsy97/rows": 70}, "folder load_cases"),
        ({"annotation_sample": 5}, "write_annotation_sheet"),
        ({"rubrics/grounds/question": "Which?"},
         "folder label_statements write_annotation_sheet score"),
        ({"contrasts/x/metric": "f1"}, "tables_courtroom"),
        ({"deviation": "It was late."}, "tables_courtroom"),
        ({"experiments/single/cases": 9}, ""),
    ],
)  # fmt: skip
def test_a_changed_key_repeats_only_the_jobs_whose_output_it_changes(
    change: dict[str, Any], repeated: str, unchanged: dict[str, object]
) -> None:
    """Later jobs run again because their input files are newer."""
    changed = digests(make_plan(change))
    assert [name for name in changed if changed[name] != unchanged[name]] == repeated.split()


def test_prompts_deviations_and_studies_count_where_they_are_used() -> None:
    plan = make_plan({"contrasts": {}, "deviation": "It was late."})
    prompts = plan.experiments["resumed"].prompts.digest("labels/label")
    assert label_prompts(plan, "resumed", "small") == prompts
    assert label_prompts(plan, "single", "small") == ""
    by_rules = make_plan({"experiments/resumed/labelers": ["rules"]})
    assert label_prompts(by_rules, "resumed", "small") == ""
    assert contrast_options(plan, ["courtroom"]) == [[], ""]
    assert presented_study(["appellate", "comparison"]) == "comparison"
    assert presented_study(["appellate"]) == "appellate"


def test_fields_that_a_model_does_not_set_are_left_out_of_its_options() -> None:
    models = {"plain": {"model": "m"}, "set": {"confidence_scale": 100, "omit": ["seed"]}}
    configs = {name: ModelConfig(**{"model": "m", **entry}) for name, entry in models.items()}
    plain, with_fields = reply_options(configs).values()
    assert with_fields.keys() - plain.keys() == {"confidence_scale", "omit"}


def test_tables_of_a_study_depend_on_its_own_runs_that_repeat_a_paper() -> None:
    plan = changed_plans.make_plan(paper=True)
    names: set[str] = set()
    for experiment in plan.experiments_of("conference"):
        names.add(experiment.config.dataset)
        names.update(f"{experiment.name}/{model}" for model in experiment.config.models)
    comparable = presentation_options(plan, "conference")["comparable"]
    assert {entry.partition(": ")[0] for entry in comparable} == names
    assert any("repeats=('paper-conference',)" in entry for entry in comparable)


def test_an_artifact_has_the_digests_of_its_job_and_of_its_sources(tmp_path: Path) -> None:
    source, path = tmp_path / "source.csv", tmp_path / "scores.parquet"
    source.write_text("a")
    job: Any = SimpleNamespace(config={}, params={"options": "1", "code": "2", "folder": "3"})
    assert digests_of(job) == {"options": "1", "code": "2"}
    job.config["rehearsal"] = True
    assert digests_of(job) == {"voices": REHEARSAL_MARK, "options": "1", "code": "2"}
    assert (read_digests(path), read_sources(path)) == ({}, {}), "it is being made"
    write_rows(path, "scores", [], describe(sources=[source], **digests_of(job)))
    assert read_digests(path) == {"options": "1", "code": "2"}
    assert read_sources(path) == {f"{tmp_path.name}/source.csv": file_digest(source)}


def test_waiting_debates_are_continued_and_failed_ones_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcomes = [
        {"status": "waiting", "reason": f"{REPLY_PENDING} of a batch"},
        {"status": "failed", "reason": ""},
        {"status": "valid", "reason": f"{CALL_FAILED}no route"},
        {"status": "valid", "reason": ""},
    ]
    plan = make_plan({})
    times = []
    for model in ("small", "batched"):
        for shard, outcome in enumerate(outcomes):
            path = Path(SHARDS.format(experiment="resumed", model=model, shard=shard))
            other = {"kind": "vote", "parsed": json.dumps(outcomes[0])}
            rows = [other, {"kind": CONCLUSION, "parsed": json.dumps(outcome)}]
            empty = dict.fromkeys(SCHEMAS["transcripts"].names)
            rows = [{**empty, **row} for row in rows]
            write_rows(path, "transcripts", rows, describe(**{TIMES_RESUMED: "2"}))
        path.with_name("4.parquet").write_text("damaged")
        for is_retry in (False, True):
            arguments = plan, "resumed", model
            times.append(
                [times_resumed(*arguments, str(shard), is_retry=is_retry) for shard in range(6)]
            )
    assert times == [
        [2, 2, 2, 2, 0, 0],
        [2, 3, 3, 2, 0, 0],
        [3, 2, 2, 2, 0, 0],
        [3, 3, 3, 2, 0, 0],
    ]
