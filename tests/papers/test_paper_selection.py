"""The key `papers`: which experiments, models and data sets a run of items has."""

from itertools import chain
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
PAPERS = read_papers(items_file(PROJECT)).values()
ITEMS = list(chain.from_iterable(paper.items for paper in PAPERS))
MINE = "smollm2-135m"
SYNTHETIC = {"nlsy97": "synthetic", "caselaw": "sample", "cail18": "sample"}


def select_experiments(**papers: Any) -> dict[str, Any]:
    config = merge_over_defaults({"papers": papers}, default_files(PROJECT))
    add_paper_experiments(config, PROJECT)
    return config


def make_plan(config: dict[str, Any]) -> Plan:
    return Plan.from_yaml(config, PROJECT, default_files(PROJECT), Faults())


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_an_item_selects_only_its_experiments(item: Any) -> None:
    config = select_experiments(
        items=item.name, models=MINE, cases=2, repeats=1, datasets=SYNTHETIC
    )
    if "run" not in config:
        assert not needed_experiments([item], PROJECT)
        return
    plan = make_plan(config)
    for name, entry in plan.experiments.items():
        assert entry.config.control == "", name
        assert set(entry.config.models) == {MINE}
        assert entry.config.repeats == 1
        assert entry.config.cases == 2
        assert entry.config.dataset.startswith("paper-")
    expected = set(needed_experiments([item], PROJECT))
    run = {name.partition("/")[0] for name in plan.experiments}
    assert expected <= run | {name for name in expected if name in config["run"]}
    assert len(set(config["run"]) - expected) <= len(item.datasets)


def test_the_defaults_are_the_designs_of_the_papers() -> None:
    config = select_experiments(items="courtroom/table5")
    paper = yaml.safe_load((PROJECT / "config/papers/courtroom.yaml").read_text("utf-8"))
    design = paper["experiments"]["paper-courtroom"]
    entry = config["experiments"]["paper-courtroom"]
    assert {name: entry[name] for name in ("models", "cases")} == {
        name: design[name] for name in ("models", "cases")
    }
    assert config["datasets"]["paper-nlsy97"]["source"] == "download"


def test_the_default_data_sets_keep_their_options() -> None:
    defaults = merge_over_defaults({}, default_files(PROJECT))
    config = select_experiments(items=["courtroom", "feedback"], datasets=SYNTHETIC)
    for name, options in defaults["datasets"].items():
        assert config["datasets"][name] == options


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
        select_experiments(**papers)


def test_seats_take_the_given_models() -> None:
    config = select_experiments(
        items="decision_conference/table5", models=MINE, seats={"grader": "gpt-4"}
    )
    assert config["experiments"]["paper-conference"]["params"]["seats"] == {"grader": "gpt-4"}
    without_seats = select_experiments(items="decision_conference/table5", models=MINE)
    assert without_seats["experiments"]["paper-conference"]["params"]["seats"] == {}


def test_labels_by_a_model_need_the_seat_of_a_labeler() -> None:
    without_labeler = select_experiments(items="appellate/table2", models=MINE)
    assert without_labeler["experiments"]["paper-synthetic-panel"]["labelers"] == ["rules"]
    labelled = select_experiments(
        items="appellate/table2", models=MINE, seats={"labeler": "gpt-4o"}
    )
    labelers = labelled["experiments"]["paper-synthetic-panel"]["labelers"]
    assert labelers == ["rules", "judge:gpt-4o"]


def test_selecting_twice_changes_nothing() -> None:
    config = select_experiments(items="courtroom/table4", models=MINE, cases=2)
    repeated = yaml.safe_load(yaml.safe_dump(config))
    add_paper_experiments(repeated, PROJECT)
    assert repeated == config


def test_a_configuration_without_the_key_is_unchanged() -> None:
    config = merge_over_defaults({}, default_files(PROJECT))
    text = yaml.safe_dump(config)
    add_paper_experiments(config, PROJECT)
    assert yaml.safe_dump(config) == text


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
    datasets = select_experiments(items=item)["datasets"]
    assert datasets[f"paper-{dataset}"].get("baselines", []) == baselines
