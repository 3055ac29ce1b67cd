"""The configuration: what is understood, and that every mistake names file and key and the nearest
known name.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from declared_jobs import declared_jobs
from moot.core.config import schema_json
from moot.core.errors import UserError
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import beyond_files
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES

PROJECT = Path(__file__).resolve().parents[2]
GOOD: dict[str, Any] = {
    "seed": 1,
    "models": {
        "small": {"endpoint": "embedded", "model": "smollm2-135m"},
        "other": {"model": "gpt"},
    },
    "datasets": {"nlsy97": {"source": "synthetic"}},
    "experiments": {"trial": {"protocol": "courtroom", "dataset": "nlsy97", "models": "small"}},
}


def again(dataset: str = "nlsy97", **params: str) -> dict[str, Any]:
    """An experiment that judges debates again."""
    entry = {"protocol": "rejudge", "dataset": dataset, "models": "other", "params": params}
    return {"experiments": {"again": entry}}


def plan_of(tmp_path: Path, change: dict[str, Any]) -> Plan:
    def merge(base: Any, over: Any) -> Any:
        if isinstance(base, dict) and isinstance(over, dict):
            return {
                key: merge(base.get(key), over[key]) if key in over else base[key]
                for key in {**base, **over}
            }
        return over

    raw = merge(GOOD, change)
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(raw))
    return Plan.from_yaml(raw, PROJECT, [file])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"replai": True},
            "mine.yaml: line 15: replai: unknown key 'replai'; did you mean 'replay'?",
        ),
        (
            {"models": {"small": {"temprature": 1}}},
            "models.small.temprature: unknown key 'temprature'; did you mean 'temperature'?",
        ),
        (
            {"models": {"small": {"temperature": "hot"}}},
            "mine.yaml: line 15: models.small.temperature: found 'hot'",
        ),
        ({"seed": None}, "mine.yaml: line 15: seed: found None"),
        (
            {"experiments": {"trial": {"models": ["smal"]}}},
            "unknown model 'smal'; did you mean 'small'?",
        ),
        (
            {"experiments": {"trial": {"protocol": "courtrom"}}},
            "unknown protocol 'courtrom'; did you mean 'courtroom'?",
        ),
        (
            {"experiments": {"trial": {"dataset": "nlsy79"}}},
            "unknown data set 'nlsy79'; did you mean 'nlsy97'?",
        ),
        (
            {"experiments": {"trial": {"params": {"strateg": "call"}}}},
            "experiments.trial.params.strateg: unknown key 'strateg'; did you mean 'strategy'?",
        ),
        (
            {"experiments": {"trial": {"params": {"strategy": "loud"}}}},
            "experiments.trial.params.strategy: found 'loud'",
        ),
        ({"experiments": {"trial": {"params": {"seats": {"judge": "x"}}}}}, "unknown model 'x'"),
        (
            again(source_experiment="trail", source_model="small"),
            "again.params.source_experiment: unknown experiment of this run 'trail'; did you mean"
            " 'trial'?",
        ),
        (
            again(source_experiment="trial", source_model="smal"),
            (
                "again.params.source_model: unknown model of experiment 'trial' 'smal'; did you"
                " mean"
                " 'small'?"
            ),
        ),
        (
            {
                **again("compas", source_experiment="trial", source_model="small"),
                "datasets": {"compas": {"source": "sample"}},
            },
            (
                "experiment 'trial' is about data set 'nlsy97', 'again' about 'compas'; expected"
                " the same"
            ),
        ),
        (
            {"datasets": {"nlsy97": {"source": "synthetic", "narative": "list"}}},
            "unknown key 'narative'; did you mean 'narrative'?",
        ),
        ({"run": ["trail"]}, "unknown experiment 'trail'; did you mean 'trial'?"),
        (
            {
                "experiments": {
                    "../evil": {"protocol": "courtroom", "dataset": "nlsy97", "models": "small"}
                }
            },
            "experiments",
        ),
    ],
)
def test_a_mistake_names_file_key_and_what_was_expected(
    tmp_path: Path, change: dict[str, Any], expected: str
) -> None:
    with pytest.raises(UserError) as caught:
        plan_of(tmp_path, change)
    assert expected in str(caught.value)
    assert "mine.yaml" in str(caught.value)


def test_run_takes_names_and_patterns_and_a_grids_own_name(tmp_path: Path) -> None:
    trial = GOOD["experiments"]["trial"]
    experiments = {
        "trial": trial,
        "paper-one": trial,
        "paper-two": {**trial, "grid": {"max_tokens": [1, 2]}},
    }
    grid = ["paper-two-max_tokens=1", "paper-two-max_tokens=2"]

    def run(*names: str) -> list[str]:
        return list(plan_of(tmp_path, {"experiments": experiments, "run": list(names)}).experiments)

    assert run("paper-*") == ["paper-one", *grid]
    assert run("trial", "*-two") == ["trial", *grid]
    assert run("*=2") == ["paper-two-max_tokens=2"]
    assert run() == ["trial", "paper-one", *grid]
    with pytest.raises(
        UserError, match=r"mine.yaml: line \d+: run: unknown experiment 'papr-\*'; did you mean"
    ):
        run("papr-*")


def test_the_papers_configuration_runs_its_own_experiments_and_no_other() -> None:
    raw = merge_over_defaults({}, beyond_files(PROJECT))
    assert all(name.startswith("paper-") for name in raw["experiments"])


def test_the_good_configuration_is_understood(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, {})
    assert plan.experiments["trial"].study == "courtroom"


@pytest.mark.parametrize(
    ("model", "cores", "threads", "jobs"),
    [
        ({}, 4, 4, 1),
        ({"threads": 1}, 4, 1, 4),
        ({"threads": 3}, 8, 3, 2),
        ({"threads": 16}, 2, 2, 1),
        ({"endpoint": "openai", "threads": 2}, 8, 1, 1),
    ],
)
def test_an_embedded_model_shares_the_cores_among_its_jobs(
    tmp_path: Path, model: dict[str, Any], cores: int, threads: int, jobs: int
) -> None:
    plan = plan_of(tmp_path, {"models": {"small": model}})
    assert (plan.threads(["small"], cores), plan.jobs_at_once("small", cores)) == (threads, jobs)


def test_run_selects_experiments_and_a_grid_expands(tmp_path: Path) -> None:
    grid = {
        "protocol": "courtroom",
        "dataset": "nlsy97",
        "models": "small",
        "grid": {"beliefs": ["none", "after_turn"]},
    }
    plan = plan_of(tmp_path, {"experiments": {"sweep": grid}, "run": ["sweep"]})
    assert list(plan.experiments) == ["sweep-beliefs=none", "sweep-beliefs=after_turn"]
    assert plan.experiments["sweep-beliefs=none"].params.beliefs == "none"


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        ({"models": {"small": {"concurrency": 3}}}, False),
        ({"models": {"other": {"model": "b"}}}, False),
        ({"seed": 2}, True),
        ({"models": {"small": {"max_tokens": 3}}}, True),
        ({"datasets": {"nlsy97": {"rows": 70}}}, True),
    ],
)
def test_digests_follow_what_replies_depend_on_and_nothing_else(
    tmp_path: Path, change: dict[str, Any], changed: bool
) -> None:
    """What comes later covers what comes before."""
    before, after = (declared_jobs(plan_of(tmp_path, given)) for given in ({}, change))
    for stage in ("run_debates", "predict", "render_transcripts"):
        one, other = (jobs.of(stage, experiment="trial", model="small") for jobs in (before, after))
        assert (one != other) is changed
    assert (
        before.of("score", experiment="trial") != after.of("score", experiment="trial")
    ) is changed


def test_the_schema_file_is_the_models_own() -> None:
    assert (PROJECT / "config" / "schema.json").read_text(encoding="utf-8") == schema_json(), (
        "run `make schema`"
    )


def test_every_key_is_explained() -> None:
    documented = (PROJECT / "docs/reference.md").read_text(encoding="utf-8")
    definitions = json.loads(schema_json())
    keys = set(definitions["properties"])
    for definition in definitions["$defs"].values():
        keys |= set(definition.get("properties", {}))
    assert not {key for key in keys if f"`{key}`" not in documented}


NAMED = {
    "cap": {"path": "mine/cases.jsonl"},
    "opinions": {"path": "mine"},
    "caselaw": {"files": {"train": "mine/cases.jsonl", "test": "mine/more.jsonl"}},
}


@pytest.mark.parametrize("loader", NAMED)
def test_a_file_that_an_option_names_is_among_the_users_own_wherever_it_is(
    loader: str, tmp_path: Path
) -> None:
    options = {"loader": loader, "source": "local", **NAMED[loader]}
    plan = plan_of(tmp_path, {"data_root": str(tmp_path), "datasets": {"nlsy97": options}})
    file = tmp_path / "mine" / "cases.jsonl"
    file.parent.mkdir()
    file.write_text("{}\n")
    assert plan.local_files("nlsy97") == [file]
    before = declared_jobs(plan).of("load_cases", dataset="nlsy97")
    file.write_text("{} \n")
    assert declared_jobs(plan).of("load_cases", dataset="nlsy97").options != before.options


@pytest.mark.parametrize(
    ("dataset", "shown"),
    [
        (
            {"loader": "transcripts", "path": "debates.csv", "columns": {"debate": "id"}},
            {"recorded/ratings", "recorded/discussions"},
        ),
        ({"loader": "agenticsimlaw", "source": "download"}, set()),
    ],
)
def test_tables_of_other_loaders_are_left_out(
    dataset: dict[str, Any], shown: set[str], tmp_path: Path
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
    plan = plan_of(tmp_path, change)
    filled = {
        name for name in TABLES if TABLES[name].study == "recorded" and plan.can_fill(TABLES[name])
    }
    some = {"recorded/ratings", "recorded/discussions"}
    assert filled & some == shown and "recorded/methods" in filled


def test_experiments_of_few_debates_enter_no_study_and_what_nothing_fills_is_left_out(
    tmp_path: Path,
) -> None:
    few = {"min_debates": 10, "experiments": {"trial": {"cases": 3, "repeats": 3}}}
    trained = {"datasets": {"nlsy97": {"baselines": ["courtroom_paper"]}}}

    def filled(change: dict[str, Any]) -> tuple[list[str], set[str]]:
        plan = plan_of(tmp_path, change)
        named = {
            entry[name]
            for entry in (TABLES, FIGURES)
            for name in entry
            if plan.can_fill(entry[name])
        }
        of_all = [found.name for found in plan.experiments_of("comparison")]
        return of_all, {f"{found.study}/{found.name}" for found in named}

    assert filled(few) == ([], {"comparison/questions", "comparison/trial_runs"})
    leaderboard = {
        "comparison/methods_long",
        "comparison/methods_by_data",
        "courtroom/table2_tabular_leaderboard",
    }
    assert filled(few | trained) == (
        [],
        {"comparison/questions", "comparison/trial_runs", *leaderboard},
    )
    enough = few | {"experiments": {"trial": {"cases": 3, "repeats": 4}}}
    names, entries = filled(enough)
    assert names == ["trial"]
    assert {"courtroom/table5_courtroom", "courtroom/belief_by_turn"} < entries
    assert "comparison/trial_runs" not in entries
    assert "recorded/rejudged" not in entries
    again_too = {
        "experiments": {
            **enough["experiments"],
            "again": again(source_experiment="trial", source_model="small")["experiments"]["again"],
        }
    }
    assert {"recorded/rejudged", "recorded/judges"} < filled(few | again_too)[1]
    assert not any(entry.startswith("stance/") for entry in entries)


def test_a_trial_run_on_request_is_held_where_it_is_named_or_has_debates_enough(
    tmp_path: Path,
) -> None:
    def names(**change: Any) -> set[str]:
        asked = {
            "dataset": "nlsy97",
            "protocol": "zero_shot",
            "models": "small",
            "cases": 3,
            "trial_on_request": True,
        }
        entries = {"experiments": {"asked": asked}, "min_debates": 10} | change
        return {name for name in plan_of(tmp_path, entries).experiments if name == "asked"}

    assert names() == set()
    assert names(run=["*"]) == names(run=["ask*"]) == names(min_debates=3) == {"asked"}


def test_an_experiment_whose_data_are_not_at_hand_is_held_where_it_is_named(tmp_path: Path) -> None:
    def names(**change: Any) -> set[str]:
        words = {
            "dataset": "nlsy97",
            "protocol": "zero_shot",
            "models": "small",
            "needs_data": "recorded/words",
        }
        entries = {"experiments": {"words": words}, "data_root": str(tmp_path / "raw")} | change
        return {name for name in plan_of(tmp_path, entries).experiments if name == "words"}

    assert names() == names(run=["*"]) == set() and names(run=["words"]) == {"words"}
    (tmp_path / "raw" / "recorded" / "words").mkdir(parents=True)
    assert names() == names(run=["*"]) == {"words"}
