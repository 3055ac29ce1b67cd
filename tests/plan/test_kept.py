"""A job reads the plan that its run stored, unless configuration or extensions have changed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from declared_jobs import declared_jobs
from moot.core.extensions import FOLDERS
from moot.core.shipped_files import SHIPPED
from moot.plan import plan_cache
from moot.plan.plan import Plan

EXTENSION = '"""Nothing is registered."""\n'


@pytest.fixture
def raw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Store the plan of a configuration with a data file and an extension of the user."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(plan_cache.VARIABLE, "")
    monkeypatch.delitem(FOLDERS, "moot.extensions.kept_extension", raising=False)
    monkeypatch.setenv("MOOT_EXTENSIONS", os.environ.get("MOOT_EXTENSIONS", ""))
    for file, text in {
        "kept_extension/mine.py": EXTENSION,
        "own.csv": "text,label\na,YES\nb,NO\n",
    }.items():
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).write_text(text)
    Path(".snakemake").mkdir()
    dataset = {"loader": "table", "source": "local", "path": "own.csv", "question": "Is it so?"}
    configuration = {
        "seed": 1,
        "extensions": ["kept_extension"],
        "models": {"small": {"endpoint": "simulated", "model": "m"}},
        "datasets": {
            "own": {**dataset, "text": "text", "target": "label", "labels": ["YES", "NO"]}
        },
        "experiments": {
            "single": {"protocol": "zero_shot", "dataset": "own", "models": "small", "cases": 1}
        },
    }
    plan_cache.keep_for_jobs(Plan.from_yaml(configuration, SHIPPED), configuration)
    return configuration


def is_kept(raw: dict[str, Any]) -> bool:
    return isinstance(plan_cache.plan_of(raw).experiments, plan_cache.LazyValues)


def test_a_job_has_the_plan_of_its_run(raw: dict[str, Any]) -> None:
    job_plan, checked_plan = (
        plan_cache.plan_of(json.loads(json.dumps(raw))),
        Plan.from_yaml(raw, SHIPPED),
    )
    assert isinstance(job_plan.experiments, plan_cache.LazyValues) and list(
        job_plan.experiments
    ) == list(checked_plan.experiments)
    assert job_plan.config == checked_plan.config and dict(job_plan.datasets) == dict(
        checked_plan.datasets
    )
    assert job_plan.view("single") == checked_plan.view("single")
    job = {"experiment": "single", "model": "small"}
    assert declared_jobs(job_plan).of("run_debates", **job) == declared_jobs(checked_plan).of(
        "run_debates", **job
    )


def test_a_job_checks_a_configuration_that_differs_from_its_runs(raw: dict[str, Any]) -> None:
    assert is_kept(raw)
    assert plan_cache.plan_of(raw | {"seed": 2}).config.seed == 2
    assert is_kept(raw)


def test_a_job_checks_its_configuration_again_after_a_change_of_an_extension(
    raw: dict[str, Any],
) -> None:
    Path("kept_extension/mine.py").write_text(EXTENSION + "CHANGED = True\n")
    assert not is_kept(raw)


def test_a_job_checks_its_configuration_again_after_a_new_module_of_an_extension(
    raw: dict[str, Any],
) -> None:
    Path("kept_extension/further.py").write_text(EXTENSION)
    assert not is_kept(raw)


def test_a_kept_plan_does_not_depend_on_data_files(raw: dict[str, Any]) -> None:
    cases_job = declared_jobs(plan_cache.plan_of(raw)).of("load_cases", dataset="own")
    Path("own.csv").write_text("text,label\na,NO\nb,NO\n")
    assert (
        is_kept(raw)
        and declared_jobs(plan_cache.plan_of(raw)).of("load_cases", dataset="own").options
        != cases_job.options
    )


def test_without_a_kept_plan_a_job_checks_its_configuration(raw: dict[str, Any]) -> None:
    Path(os.environ[plan_cache.VARIABLE]).unlink()
    assert not is_kept(raw)
