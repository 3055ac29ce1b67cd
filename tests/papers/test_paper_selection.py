"""The key `papers`: which experiments, models and data sets a run of items has."""

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.read_config import default_config, merge_over_defaults
from moot.core.shipped_files import default_files, paper_files
from moot.papers.items import items_file, read_papers
from moot.papers.lean import check_lean_design
from moot.papers.selection import add_paper_experiments, is_of_design, needed_experiments
from moot.plan.as_published import compare_with_papers
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
    defaults = default_config(PROJECT)
    config = select_experiments(items=["courtroom", "feedback"], datasets=SYNTHETIC)
    for name, options in defaults["datasets"].items():
        assert config["datasets"][name] == options


@pytest.mark.parametrize(
    ("papers", "message"),
    [
        ({"items": "courtroom/table44"}, "did you mean 'courtroom/table4'"),
        ({"items": "courtroom/table4", "models": ["smollm2-153m"]}, "did you mean 'smollm2-135m'"),
        ({"items": "courtroom/table4", "seats": {"grader": "gpt-44"}}, "unknown model 'gpt-44'"),
        ({"items": "courtroom/table5", "seats": {"jugde": "gpt-4"}}, "did you mean 'judge'"),
        (
            {"items": "courtroom/table4", "seats": {"grader": "gpt-4"}},
            "seats: unknown seat 'grader'",
        ),
        (
            {"items": "courtroom/table4", "datasets": {"nlsy79": "synthetic"}},
            "did you mean 'nlsy97'",
        ),
        (
            {"items": "courtroom/table4", "datasets": {"nlsy97": "synthetik"}},
            "papers.datasets.nlsy97: unknown source 'synthetik'; did you mean 'synthetic'",
        ),
        ({"items": "courtroom/table4", "datasets": {"nlsy97": None}}, "unknown source 'None'"),
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


def test_a_seat_may_have_a_model_that_is_not_in_the_paper() -> None:
    config = select_experiments(items="courtroom/table5", seats={"judge": "gpt-4"})
    entry = config["experiments"]["paper-courtroom"]
    assert entry["params"] == {"critique": True, "seats": {"judge": "gpt-4"}}
    assert len(entry["models"]) == 20


@pytest.mark.parametrize(
    ("item", "dataset", "name"),
    [
        ("decision_conference/table1", "vast-nearest", "vast"),
        ("decision_conference/table1", "vast-nearest", "vast-nearest"),
        ("courtroom/table4", "nlsy97", "nlsy97"),
    ],
)
@pytest.mark.parametrize("source", ["synthetic", "local"])
def test_a_data_set_is_chosen_by_its_name_or_that_of_its_loader(
    item: str, dataset: str, name: str, source: str
) -> None:
    options = select_experiments(items=item, datasets={name: source})["datasets"]
    entry, design = options[f"paper-{dataset}"], select_experiments(items=item)["datasets"]
    assert entry["source"] == source
    if source == "local":  # the user's copy of the paper's file
        assert entry == {**design[f"paper-{dataset}"], "source": "local"}


def test_labels_by_a_model_need_the_seat_of_a_labeler() -> None:
    without_labeler = select_experiments(items="appellate/table2", models=MINE)
    assert without_labeler["experiments"]["paper-synthetic-panel"]["labelers"] == ["rules"]
    labelled = select_experiments(
        items="appellate/table2", models=MINE, seats={"labeler": "gpt-4o"}
    )
    labelers = labelled["experiments"]["paper-synthetic-panel"]["labelers"]
    assert labelers == ["rules", "judge:gpt-4o"]
    assert "seats" not in labelled["experiments"]["paper-synthetic-panel"]["params"]


def test_selecting_twice_changes_nothing() -> None:
    config = select_experiments(items="courtroom/table4", models=MINE, cases=2)
    repeated = yaml.safe_load(yaml.safe_dump(config))
    add_paper_experiments(repeated, PROJECT)
    assert repeated == config


def test_a_configuration_without_the_key_is_unchanged() -> None:
    config = default_config(PROJECT)
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


# Lean designs

LEAN_ITEMS = [item for item in ITEMS if item.lean]


@pytest.mark.parametrize("item", LEAN_ITEMS, ids=lambda item: item.name)
def test_a_lean_design_is_smaller_and_repeats_the_paper(item: Any) -> None:
    full = make_plan(select_experiments(items=item.name))
    lean = make_plan(select_experiments(items=item.name, design="lean"))
    assert set(lean.experiments) <= set(full.experiments)
    for name, experiment in lean.experiments.items():
        assert set(experiment.config.models) <= set(full.experiments[name].config.models)
        assert experiment.config.repeats <= full.experiments[name].config.repeats
    assert {name: experiment.config for name, experiment in lean.experiments.items()} != {
        name: experiment.config for name, experiment in full.experiments.items()
    }
    published = needed_experiments([item], PROJECT, is_lean=True)
    matches = compare_with_papers(lean).runs
    if item.name not in ("decision_conference/figure2", "feedback/table4"):  # of one case
        for (name, model), match in matches.items():
            assert not is_of_design(name, published) or match.repeats, (name, model, match)


@pytest.mark.parametrize("design", ["full", "lean"])
def test_a_design_of_few_cases_repeats_nothing(design: str) -> None:
    config = select_experiments(items="feedback/table5", design=design, cases=2)
    matches = compare_with_papers(make_plan(config)).runs.values()
    assert matches and all("fewer cases" in match.difference for match in matches)


def test_heller_table_5_needs_no_second_grader_coder_evaluator_or_notes() -> None:
    config = select_experiments(items="decision_conference/table5", design="lean")
    conference = config["experiments"]["paper-conference"]
    assert (conference["models"], conference["repeats"]) == (["gpt-4"], 1)
    assert not any(conference["params"][name] for name in ("evaluator", "notes", "coding"))
    judges = config["experiments"]["paper-conference-judges"]
    assert judges["params"]["gradings"] == 1
    assert len(judges["models"]) == 6


@pytest.mark.parametrize(
    ("items", "models", "cases"),
    [
        (["feedback/table2"], ["gpt-4o"], None),
        (["feedback/table3"], ["gpt-4o-mini"], None),
        (["feedback/table2", "feedback/table3"], ["gpt-4o", "gpt-4o-mini"], None),
        (["feedback/table4"], ["gpt-4o"], 1),
        (["feedback/table4", "feedback/table5"], ["gpt-4o"], None),
    ],
)
def test_items_that_share_an_experiment_leave_out_unneeded_parts(
    items: list[str], models: list[str], cases: int | None
) -> None:
    experiments = select_experiments(items=items, design="lean")["experiments"]
    entry = experiments["paper-feedback-single-caselaw"]
    assert (entry["models"], entry.get("cases")) == (models, cases)


def test_an_experiment_that_no_item_shows_is_left_out() -> None:
    names = select_experiments(items="feedback/table3", design="lean")["run"]
    assert "paper-gpt-caselaw" not in names
    assert "paper-few-shot-caselaw" in names
    both = select_experiments(items=["feedback/table2", "feedback/table3"], design="lean")["run"]
    assert "paper-gpt-caselaw" in both


@pytest.mark.parametrize(("cases", "expected"), [(20, 1), (1, 1)])
def test_a_lean_design_takes_no_more_cases_than_it_needs(cases: int, expected: int) -> None:
    config = select_experiments(items="feedback/table4", design="lean", models=MINE, cases=cases)
    entry = config["experiments"]["paper-feedback-single-caselaw"]
    assert (entry["models"], entry["cases"]) == ([MINE], expected)


def test_an_unknown_design_is_an_error() -> None:
    with pytest.raises(UserError, match="lean"):
        make_plan(select_experiments(items="courtroom/table4", design="leen"))


@pytest.mark.parametrize(
    ("lean", "message"),
    [
        ({"paper-courtrom": {}}, "experiment 'paper-courtrom' has no design"),
        ({"paper-courtroom": {"prompts": "x"}}, "found prompts, expected some of models"),
    ],
)
def test_a_faulty_lean_design_is_an_error(lean: Any, message: str) -> None:
    item = replace(ITEMS[0], lean=lean)
    with pytest.raises(UserError, match=message):
        check_lean_design(item, merge_over_defaults({}, paper_files(PROJECT)))
