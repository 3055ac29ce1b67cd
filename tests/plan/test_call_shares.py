"""The jobs of a run divide the calls to a provider."""

from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import configuration
from fault_server import FaultServer
from moot.plan.call_shares import CallShares, plan_of_job
from moot.plan.plan import Plan
from project_copy import PROJECT, Workflow, unedited_copy

ADDRESS = "http://gpu-3:8000/v1"
RATES = {"concurrency": 12, "requests_per_minute": 80}


@pytest.mark.slow
def test_four_jobs_make_no_more_calls_than_one_model_allows(tmp_path: Path) -> None:
    """Slow: only this test counts what a server sees of all jobs of a run."""
    with FaultServer(latency=0.2) as server:
        workflow = Workflow(tmp_path, server.url, project=unedited_copy())
        workflow.configure({"shards": 4, "run": ["trial"], "models/served/concurrency": 3})
        shards = [f"results/transcripts/trial/served/{number}.parquet" for number in range(4)]
        process = workflow.run(*shards, "--cores", "4")
        assert process.returncode == 0, process.stdout
        assert server.stats()["peak"] <= 3


@pytest.mark.parametrize(
    ("cores", "limits", "expected"),
    [
        (8, {}, {"model_test": 3, "gpu_3_8000": 3, "gpu_3_8000_jobs": 4}),
        (2, {}, {"model_test": 6, "gpu_3_8000": 6, "gpu_3_8000_jobs": 2}),
        (8, {"gpu_3_8000": 24}, {"model_test": 12, "gpu_3_8000": 12, "gpu_3_8000_jobs": 2}),
        (8, {"gpu_3_8000": 5}, {"model_test": 5, "gpu_3_8000": 5, "gpu_3_8000_jobs": 1}),
        # a job on another machine, whose limits are the resources that it was submitted with
        (
            1,
            {"model_test": 3, "gpu_3_8000": 3, "gpu_3_8000_jobs": 4},
            {"model_test": 3, "gpu_3_8000": 3, "gpu_3_8000_jobs": 4},
        ),
    ],
)
def test_a_job_takes_its_share(
    cores: int, limits: dict[str, int], expected: dict[str, Any], tmp_path: Path
) -> None:
    plan = Plan.from_yaml(configuration(ADDRESS, tmp_path, RATES, shards=4), PROJECT)
    resources = CallShares(plan, cores, cores, limits).of_job(["test"])
    assert resources == expected
    model = plan_of_job(plan, resources).config.models["test"]
    assert model.concurrency == expected["model_test"]
    assert model.requests_per_minute == 80 / expected["gpu_3_8000_jobs"]
    assert plan.config.models["test"].concurrency == 12
    unlimited = plan_of_job(plan, {"gpu_3_8000_jobs": 4})
    assert unlimited.config.models == plan.config.models
