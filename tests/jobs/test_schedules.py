"""An analysis may give an experiment a schedule: jobs that are held one after another."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, hold, people
from fault_server import FaultServer
from moot.core.artifacts import read_cases
from moot.core.cases import Case, Task
from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.types import JsonObject
from moot.hooks import ANALYSES, Analysis, CheckedExperiments, Schedule
from moot.jobs.debates import Job
from moot.jobs.interim_results import is_complete
from moot.plan.plan import Plan
from moot.scores.results import ExperimentResults

NAME = "halves"


class Halves(Schedule):
    """Two jobs; the second is empty if the first has enough valid answers."""

    def __init__(self, enough: int) -> None:
        self.enough = enough

    @property
    def shards(self) -> int:
        return 2

    @property
    def runs(self) -> list[tuple[str, str]]:
        return [(EXPERIMENT, MODEL)]

    def shard_numbers(self, cases: Sequence[Case], task: Task, seed: int) -> dict[str, int]:
        return {case.case_id: number * 2 // len(cases) for number, case in enumerate(cases)}

    def digest_content(self) -> JsonObject:
        return {"enough": self.enough}

    def is_complete(self, results: Mapping[str, ExperimentResults]) -> bool:
        predictions = results[EXPERIMENT].predictions
        return int((predictions["status"] == "valid").sum()) >= self.enough


class HalvesAnalysis(Analysis):
    """Gives the experiment its schedule, or notes a fault."""

    def __init__(self, enough: int) -> None:
        self.enough = enough

    def plan_schedules(self, plan: CheckedExperiments, faults: Faults) -> Mapping[str, Schedule]:
        if self.enough < 0:
            faults.add(f"{plan.place('experiments', EXPERIMENT)}: found {self.enough} answers")
        return {EXPERIMENT: Halves(self.enough)}


def register(monkeypatch: pytest.MonkeyPatch, enough: int) -> None:
    """Register the analysis for one test."""
    assert NAME not in ANALYSES  # the look-up imports all analyses
    monkeypatch.setattr(ANALYSES, "_entries", {**ANALYSES._entries, NAME: HalvesAnalysis(enough)})


def make_configuration(url: str, folder: Path) -> dict[str, Any]:
    return configuration(url, folder, shards=5, experiment={"protocol": "zero_shot"})


@pytest.mark.parametrize(("enough", "is_enough"), [(1, True), (100, False)])
def test_later_jobs_depend_on_the_results_of_earlier_ones(
    server: FaultServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    enough: int,
    is_enough: bool,
) -> None:
    register(monkeypatch, enough)
    config = make_configuration(server.url, tmp_path)
    cases = people(tmp_path / "people.parquet", 10)
    plan = Plan.from_yaml(config, PROJECT)
    assert plan.shards(EXPERIMENT) == 2
    outputs = [tmp_path / EXPERIMENT / MODEL / f"{shard}.parquet" for shard in range(2)]
    case_ids: list[list[str]] = []
    for shard, output in enumerate(outputs):
        output.parent.mkdir(parents=True, exist_ok=True)
        case_ids.append(sorted(set(hold(config, cases, output, shard)["case_id"])))
    assert [len(ids) for ids in case_ids] == [5, 5]
    assert not set(case_ids[0]) & set(case_ids[1])
    job = Job(EXPERIMENT, MODEL, *read_cases(cases), shard=1)
    assert is_complete(plan, job, cases, outputs[:1]) == is_enough
    first_job = Job(EXPERIMENT, MODEL, *read_cases(cases), shard=0)
    assert not is_complete(plan, first_job, cases, [])


def test_a_fault_of_a_schedule_ends_the_check_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, -1)
    with pytest.raises(UserError, match=rf"experiments.{EXPERIMENT}.*found -1 answers"):
        Plan.from_yaml(make_configuration("http://127.0.0.1:9/v1", tmp_path), PROJECT)
