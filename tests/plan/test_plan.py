"""The plan of a configuration; each mistake names the file, the key and the nearest valid name."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from declared_jobs import declared_jobs
from messages import refusal
from moot.core.config import schema_json
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import beyond_files
from moot.llm.stand_in import StandIn
from moot.plan.plan import Plan
from moot.plan.rehearsal import stand_in_endpoints
from moot.report import FIGURES, TABLES

PROJECT = Path(__file__).resolve().parents[2]
VALID_CONFIGURATION: dict[str, Any] = {
    "seed": 1,
    "models": {
        "small": {"endpoint": "embedded", "model": "smollm2-135m"},
        "other": {"model": "gpt"},
    },
    "datasets": {"nlsy97": {"source": "synthetic"}},
    "experiments": {"trial": {"protocol": "courtroom", "dataset": "nlsy97", "models": "small"}},
}


def rejudge_entry(dataset: str = "nlsy97", **params: str) -> dict[str, Any]:
    """Return a change with an experiment that judges debates again."""
    entry = {"protocol": "rejudge", "dataset": dataset, "models": "other", "params": params}
    return {"experiments": {"again": entry}}


def merge(base: Any, change: Any) -> Any:
    """Return a value with changed keys; values that are not mappings are replaced."""
    if not isinstance(base, dict) or not isinstance(change, dict):
        return change
    changed = {key: merge(base.get(key), value) for key, value in change.items()}
    return {**base, **changed}


def make_plan(tmp_path: Path, change: dict[str, Any]) -> Plan:
    """Write and read the valid configuration with a change, merged key by key."""
    raw = merge(VALID_CONFIGURATION, change)
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(raw))
    return Plan.from_yaml(raw, PROJECT, [file])


def test_run_takes_names_patterns_and_the_name_of_a_grid(tmp_path: Path) -> None:
    trial = VALID_CONFIGURATION["experiments"]["trial"]
    experiments = {
        "trial": trial,
        "paper-one": trial,
        "paper-two": {**trial, "grid": {"max_tokens": [1, 2]}},
    }
    grid = ["paper-two-max_tokens=1", "paper-two-max_tokens=2"]

    def run(*names: str) -> list[str]:
        return list(
            make_plan(tmp_path, {"experiments": experiments, "run": list(names)}).experiments
        )

    assert run("paper-*") == ["paper-one", *grid]
    assert run("trial", "*-two") == ["trial", *grid]
    assert run("*=2") == ["paper-two-max_tokens=2"]
    assert run() == ["trial", "paper-one", *grid]
    with refusal():
        run("papr-*")


def test_the_papers_configuration_runs_only_its_own_experiments() -> None:
    raw = merge_over_defaults({}, beyond_files(PROJECT))
    assert all(name.startswith("paper-") for name in raw["experiments"])


def test_the_schema_file_is_up_to_date() -> None:
    assert (PROJECT / "config" / "schema.json").read_text(encoding="utf-8") == schema_json(), (
        "run `make schema`"
    )


FILE_OPTIONS: dict[str, dict[str, Any]] = {
    "nlsy97": {},
    "opinions": {"path": "mine"},
    "caselaw": {"files": {"train": "mine/cases.jsonl", "test": "mine/more.jsonl"}},
}


@pytest.mark.parametrize("loader", FILE_OPTIONS)
def test_files_of_the_folder_and_of_options_are_local(loader: str, tmp_path: Path) -> None:
    options = {"loader": loader, "source": "local", **FILE_OPTIONS[loader]}
    plan = make_plan(tmp_path, {"data_root": str(tmp_path), "datasets": {"nlsy97": options}})
    file = tmp_path / ("mine" if FILE_OPTIONS[loader] else loader) / "cases.jsonl"
    file.parent.mkdir()
    file.write_text("{}\n")
    assert plan.local_files("nlsy97") == [file]
    cases_job = declared_jobs(plan).of("load_cases", dataset="nlsy97")
    file.write_text("{} \n")
    assert declared_jobs(plan).of("load_cases", dataset="nlsy97").options != cases_job.options


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        (
            {"loader": "transcripts", "path": "debates.csv", "columns": {"debate": "id"}},
            {"recorded/discussions"},
        ),
        ({"loader": "agenticsimlaw", "source": "download"}, set()),
    ],
)
def test_tables_of_other_loaders_are_left_out(
    dataset: dict[str, Any], expected: set[str], tmp_path: Path
) -> None:
    recorded = {
        "source": "recorded",
        "dataset": "records",
        "models": ["judges"],
        "params": {"method": "debate"},
    }
    change = {
        "models": {"judges": {"endpoint": "recorded", "model": "judges"}},
        "datasets": {"records": dataset},
        "experiments": {"recorded": recorded},
    }
    plan = make_plan(tmp_path, change)
    tables = [name for name in TABLES if TABLES[name].study == "recorded"]
    names = {name for name in tables if plan.can_fill(TABLES[name])}
    assert names & {"recorded/discussions"} == expected
    assert "recorded/methods" in names


def test_experiments_of_few_debates_fill_no_table_of_a_study(
    tmp_path: Path,
) -> None:
    trial_runs = {"min_debates": 10, "experiments": {"trial": {"cases": 3, "repeats": 3}}}
    trained = {"datasets": {"nlsy97": {"baselines": ["courtroom_paper"]}}}

    def list_names(change: dict[str, Any]) -> tuple[list[str], set[str]]:
        """Return the names of the compared experiments, and of the tables and figures."""
        plan = make_plan(tmp_path, change)
        experiments = [experiment.name for experiment in plan.experiments_of("comparison")]
        names = {name for name in TABLES if plan.can_fill(TABLES[name])}
        names |= {name for name in FIGURES if plan.can_fill(FIGURES[name])}
        return experiments, names

    assert list_names(trial_runs) == ([], {"comparison/trial_runs"})
    leaderboard = {"comparison/methods"}
    assert list_names(trial_runs | trained) == (
        [],
        {"comparison/trial_runs", *leaderboard},
    )
    full_runs = trial_runs | {"experiments": {"trial": {"cases": 3, "repeats": 4}}}
    names, entries = list_names(full_runs)
    assert names == ["trial"]
    assert {"courtroom/deferral", "courtroom/panel_worth"} < entries
    _, without = list_names({**full_runs, "leave_out": ["deferral"]})
    assert entries - without == {name for name in entries if name.endswith("/deferral")}
    assert "comparison/trial_runs" not in entries
    assert "recorded/rejudged" not in entries
    rejudged = merge(full_runs, rejudge_entry(source_experiment="trial", source_model="small"))
    assert "recorded/rejudged" in list_names(rejudged)[1]
    assert not any(entry.startswith("stance/") for entry in entries)


def test_a_trial_run_on_request_needs_its_name_or_enough_debates(
    tmp_path: Path,
) -> None:
    def names(**change: Any) -> set[str]:
        entry = {
            "dataset": "nlsy97",
            "protocol": "zero_shot",
            "models": "small",
            "cases": 3,
            "trial_on_request": True,
        }
        entries = {"experiments": {"asked": entry}, "min_debates": 10} | change
        return {name for name in make_plan(tmp_path, entries).experiments if name == "asked"}

    assert names() == set()
    assert names(run=["*"]) == names(run=["ask*"]) == names(min_debates=3) == {"asked"}


def test_an_experiment_without_its_data_runs_only_by_name(tmp_path: Path) -> None:
    def names(**change: Any) -> set[str]:
        words = {
            "dataset": "nlsy97",
            "protocol": "zero_shot",
            "models": "small",
            "needs_data": "recorded/words",
        }
        entries = {"experiments": {"words": words}, "data_root": str(tmp_path / "raw")} | change
        return {name for name in make_plan(tmp_path, entries).experiments if name == "words"}

    assert names() == names(run=["*"]) == set() and names(run=["words"]) == {"words"}
    (tmp_path / "raw" / "recorded" / "words").mkdir(parents=True)
    assert names() == names(run=["*"]) == {"words"}


def test_a_rehearsal_has_the_stand_in_for_models_and_people_and_trains_nothing(
    tmp_path: Path,
) -> None:
    seats = {"protocol": "human_panel", "params": {"seats": {"human": "person"}}}
    change = {
        "experiments": {"trial": seats},
        "datasets": {"nlsy97": {"baselines": ["courtroom_paper"]}},
    }
    plan, rehearsed = (make_plan(tmp_path, {**change, "rehearsal": on}) for on in (False, True))
    assert list(plan.models_in_job("trial", "small")) == ["small"]
    assert list(rehearsed.models_in_job("trial", "small")) == ["small", "person"]
    assert {model.endpoint for model in rehearsed.config.models.values()} == {"simulated"}
    assert (plan.trained_datasets, rehearsed.trained_datasets) == (["nlsy97"], [])
    assert stand_in_endpoints(plan.config) is None
    open_endpoint = stand_in_endpoints(rehearsed.config)
    assert open_endpoint
    assert isinstance(open_endpoint(rehearsed.config.models["person"], 1), StandIn)
    assert len(plan.made_up_notes()) == 1 and len(rehearsed.made_up_notes("appellate")) == 2
    assert plan.made_up_notes("stance") == []
    assert (plan.threads(["small", "other"], 3), plan.threads(["other"], 3)) == (3, 1)


@pytest.mark.parametrize(
    ("entry", "labelers"),
    [
        ({"protocol": "panel", "dataset": "opinions"}, ("rules",)),
        ({"protocol": "panel", "dataset": "own"}, ("rules",)),
        ({"protocol": "panel", "dataset": "opinions", "labelers": []}, ()),
        ({"protocol": "panel", "dataset": "nlsy97"}, ()),
        ({"protocol": "courtroom", "dataset": "opinions"}, ()),
    ],
)
def test_rules_label_the_statements_that_they_are_about_by_default(
    entry: dict[str, Any], labelers: tuple[str, ...], tmp_path: Path
) -> None:
    labels = ["affirm", "not affirm"]
    own = {"loader": "table", "path": "a.csv", "text": "t", "target": "o", "labels": labels}
    change = {"datasets": {"opinions": {"source": "sample"}, "own": own}}
    plan = make_plan(tmp_path, {**change, "experiments": {"trial": entry}})
    assert plan.experiments["trial"].config.labelers == labelers
