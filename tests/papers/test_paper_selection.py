"""The key `papers`: which experiments, models and data sets a run of items has."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import default_files
from moot.papers.items import items_file, read_papers
from moot.papers.selection import add_paper_experiments, needed_experiments
from moot.plan.plan import Plan

PROJECT = Path(__file__).resolve().parents[2]
ITEMS = [item for paper in read_papers(items_file(PROJECT)).values() for item in paper.items]
MINE = "smollm2-135m"
SYNTHETIC = {"nlsy97": "synthetic", "caselaw": "sample", "cail18": "sample"}


def selected(**papers: Any) -> dict[str, Any]:
    config = merge_over_defaults({"papers": papers}, default_files(PROJECT))
    add_paper_experiments(config, PROJECT)
    return config


def plan_of(config: dict[str, Any]) -> Plan:
    return Plan.from_yaml(config, PROJECT, default_files(PROJECT), Faults())


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_an_item_has_its_experiments_and_nothing_else(item: Any) -> None:
    config = selected(items=item.name, models=MINE, cases=2, repeats=1, datasets=SYNTHETIC)
    if "run" not in config:
        assert not needed_experiments([item], PROJECT)
        return
    plan = plan_of(config)
    for name, entry in plan.experiments.items():
        assert entry.config.control == "", name
        assert set(entry.config.models) == {MINE}
        assert entry.config.repeats == 1
        assert entry.config.cases == 2
        assert entry.config.dataset.startswith("paper-")
    needed = set(needed_experiments([item], PROJECT))
    run = {name.partition("/")[0] for name in plan.experiments}
    assert needed <= run | {name for name in needed if name in config["run"]}
    assert len(set(config["run"]) - needed) <= len(item.datasets)


def test_defaults_are_the_papers() -> None:
    config = selected(items="courtroom/table5")
    paper = yaml.safe_load((PROJECT / "config/papers/courtroom.yaml").read_text("utf-8"))
    design = paper["experiments"]["paper-courtroom"]
    entry = config["experiments"]["paper-courtroom"]
    assert {name: entry[name] for name in ("models", "cases")} == {
        name: design[name] for name in ("models", "cases")
    }
    assert config["datasets"]["paper-nlsy97"]["source"] == "download"


def test_the_default_data_sets_keep_their_options() -> None:
    before = merge_over_defaults({}, default_files(PROJECT))
    after = selected(items=["courtroom", "feedback"], datasets=SYNTHETIC)
    for name, options in before["datasets"].items():
        assert after["datasets"][name] == options


@pytest.mark.parametrize(
    ("papers", "message"),
    [
        ({"items": "courtroom/table44"}, "did you mean 'courtroom/table4'"),
        ({"items": "courtroom/table4", "models": ["smollm2-153m"]}, "did you mean 'smollm2-135m'"),
        ({"items": "courtroom/table4", "seats": {"grader": "gpt-44"}}, "unknown model 'gpt-44'"),
    ],
)
def test_unknown_names_are_errors_with_the_nearest_name(papers: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        selected(**papers)


def test_seats_take_the_models_that_are_given() -> None:
    config = selected(items="decision_conference/table5", models=MINE, seats={"grader": "gpt-4"})
    assert config["experiments"]["paper-conference"]["params"]["seats"] == {"grader": "gpt-4"}
    alone = selected(items="decision_conference/table5", models=MINE)
    assert alone["experiments"]["paper-conference"]["params"]["seats"] == {}


def test_labels_by_a_model_need_the_seat_of_a_labeler() -> None:
    alone = selected(items="appellate/table2", models=MINE)
    assert alone["experiments"]["paper-synthetic-panel"]["labelers"] == ["rules"]
    labelled = selected(items="appellate/table2", models=MINE, seats={"labeler": "gpt-4o"})
    labelers = labelled["experiments"]["paper-synthetic-panel"]["labelers"]
    assert labelers == ["rules", "judge:gpt-4o"]


def test_selecting_twice_changes_nothing() -> None:
    config = selected(items="courtroom/table4", models=MINE, cases=2)
    again = yaml.safe_load(yaml.safe_dump(config))
    add_paper_experiments(again, PROJECT)
    assert again == config


def test_without_the_key_the_configuration_stays() -> None:
    config = merge_over_defaults({}, default_files(PROJECT))
    before = yaml.safe_dump(config)
    add_paper_experiments(config, PROJECT)
    assert yaml.safe_dump(config) == before


@pytest.mark.parametrize(
    ("item", "dataset", "baselines"),
    [
        ("courtroom/table2", "nlsy97", ["courtroom_paper"]),
        ("courtroom/table3", "nlsy97", ["tabpfn"]),
        ("feedback/table2", "caselaw", ["text", "transformers"]),
        ("courtroom/table4", "nlsy97", []),
        ("feedback/table3", "caselaw", []),
    ],
)
def test_only_items_of_trained_models_train_them(
    item: str, dataset: str, baselines: list[str]
) -> None:
    datasets = selected(items=item)["datasets"]
    assert datasets[f"paper-{dataset}"].get("baselines", []) == baselines
