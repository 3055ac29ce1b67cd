"""The key `papers`: which experiments, models and data sets a run of items has."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from messages import refusal
from moot.core.config_errors import Faults
from moot.core.read_config import default_config, merge_over_defaults
from moot.core.shipped_files import default_files
from moot.jobs.item_designs import describe_sizes
from moot.papers.items import items_file, read_papers
from moot.papers.selection import add_paper_experiments, needed_experiments
from moot.papers.wording import PUBLISHED, TEMPLATES, WORDS_TABLE, read_rows
from moot.plan.papers_of_run import paper_plan, read_designs
from moot.plan.plan import Plan

PROJECT = Path(__file__).resolve().parents[2]
PAPERS = read_papers(items_file(PROJECT)).values()
DESIGNS = read_designs(PROJECT).values()
ITEMS = dict[tuple[str, str], Any]()
"""An item of each kind of each paper."""
for each_paper in PAPERS:
    ITEMS |= {(item.paper, item.kind): item for item in each_paper.items}
MINE = "smollm2-135m"
SYNTHETIC = {"nlsy97": "synthetic", "caselaw": "sample", "cail18": "sample"}


def select_experiments(**papers: Any) -> dict[str, Any]:
    config = merge_over_defaults({"papers": papers}, default_files(PROJECT))
    add_paper_experiments(config, PROJECT)
    return config


def make_plan(config: dict[str, Any]) -> Plan:
    return Plan.from_yaml(config, PROJECT, default_files(PROJECT), Faults())


@pytest.mark.parametrize("item", ITEMS.values(), ids=lambda item: item.name)
def test_an_item_selects_only_its_experiments(item: Any) -> None:
    config = select_experiments(
        items=item.name, models=MINE, cases=2, repeats=1, datasets=SYNTHETIC
    )
    if "run" not in config:
        assert not needed_experiments([item], DESIGNS)
        return
    plan = make_plan(config)
    for name, entry in plan.experiments.items():
        assert entry.config.control == "", name
        assert set(entry.config.models) == {MINE}
        assert entry.config.repeats == 1
        assert entry.config.cases <= 2
        assert entry.config.dataset.startswith("paper-")
    expected = set(needed_experiments([item], DESIGNS))
    run = {name.partition("/")[0] for name in plan.experiments}
    assert expected <= run | {name for name in expected if name in config["run"]}
    assert len(set(config["run"]) - expected) <= len(item.datasets)


def test_the_defaults_are_the_designs_of_the_papers() -> None:
    config = select_experiments(items="courtroom/table5")
    paper = yaml.safe_load((PROJECT / "config/papers/courtroom.yaml").read_text("utf-8"))
    design = paper["experiments"]["paper-courtroom"]
    entry = config["experiments"]["paper-courtroom"]
    assert entry["cases"] == design["cases"]
    assert set(entry["models"]) < set(design["models"]), "the models that the table has"
    assert config["datasets"]["paper-nlsy97"]["source"] == "download"


def test_the_default_data_sets_keep_their_options() -> None:
    defaults = default_config(PROJECT)
    config = select_experiments(items=["courtroom", "feedback"], datasets=SYNTHETIC)
    for name, options in defaults["datasets"].items():
        assert config["datasets"][name] == options


@pytest.mark.parametrize(
    "papers",
    [
        {"items": "courtroom/table44"},
        {"items": "courtroom/table4", "models": ["smollm2-153m"]},
        {"items": "courtroom/table4", "datasets": {"nlsy79": "synthetic"}},
        {"items": "courtroom/table4", "datasets": {"nlsy97": "synthetik"}},
    ],
)
def test_unknown_names_are_errors_with_the_nearest_name(papers: Any) -> None:
    with refusal():
        make_plan(select_experiments(**papers))


def test_own_models_take_the_seats_that_no_own_entry_fills() -> None:
    papers = {"items": "decision_conference/table5", "models": MINE}
    grader = {"params": {"seats": {"grader": "gpt-4"}}}
    name = "paper-conference-judges"
    for own, seats in (({}, {}), ({name: grader}, {"grader": "gpt-4"})):
        config = merge_over_defaults({"papers": papers, "experiments": own}, default_files(PROJECT))
        add_paper_experiments(config, PROJECT)
        assert config["experiments"][name]["params"]["seats"] == seats


@pytest.mark.parametrize(
    ("item", "dataset", "name"),
    [
        ("decision_conference/table1", "vast-nearest", "vast"),
        ("decision_conference/table1", "vast-nearest", "paper-vast-nearest"),
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


def test_models_are_trained_alike_whatever_item_shows_them() -> None:
    tables = [select_experiments(items=f"courtroom/table{number}") for number in (2, 3, 4)]
    datasets = [table["datasets"]["paper-nlsy97"] for table in tables]
    assert datasets[0] == datasets[1] == datasets[2]
    assert datasets[0]["baselines"] == ["courtroom_paper"]


@pytest.mark.parametrize(
    ("items", "models"),
    [
        (["feedback/table2"], ["gpt-4o"]),
        (["feedback/table3"], ["gpt-4o-mini"]),
        (["feedback/table2", "feedback/table3"], ["gpt-4o", "gpt-4o-mini"]),
    ],
)
def test_an_item_runs_only_the_models_that_it_shows(items: list[str], models: list[str]) -> None:
    entry = select_experiments(items=items)["experiments"]["paper-feedback-single-caselaw"]
    assert entry["models"] == models


def test_both_ways_to_run_an_item_give_the_same_experiments() -> None:
    shown = make_plan(select_experiments(items="courtroom/figure5"))
    whole = paper_plan(PROJECT)
    assert shown.experiments["paper-courtroom"].config.model_dump(
        exclude={"allow_fewer_cases"}
    ) == (whole.experiments["paper-courtroom"].config.model_dump(exclude={"allow_fewer_cases"}))
    assert shown.datasets["paper-nlsy97"] == whole.datasets["paper-nlsy97"]
    assert shown.config.shards == whole.config.shards


def test_a_change_of_a_papers_experiment_is_kept() -> None:
    config = merge_over_defaults(
        {
            "papers": {"items": "courtroom/table4", "models": MINE},
            "experiments": {"paper-zero-shot": {"prompts": "mine", "cases": 5}},
        },
        default_files(PROJECT),
    )
    add_paper_experiments(config, PROJECT)
    entry = config["experiments"]["paper-zero-shot"]
    assert (entry["prompts"], entry["cases"], entry["models"]) == ("mine", 5, [MINE])
    assert config["experiments"]["paper-cot"]["cases"] == 150


def test_few_cases_shrink_those_to_calibrate_with_in_proportion_and_say_so() -> None:
    config = select_experiments(items="feedback/table2", cases=12)
    for data in ("caselaw", "cail18"):
        entry = config["experiments"][f"paper-feedback-training-{data}"]
        assert (entry["cases"], entry["calibration_cases"]) == (12, 2), "2 of 100, as 12 of 600"
    plan = make_plan(config)
    sizes = [*describe_sizes(plan.config.experiments, DESIGNS)]
    words = "12 cases (the paper: 600), 2 calibration cases (the paper: 100): `paper-feedback"
    assert sizes[0].startswith(words)
    assert sizes[1].startswith("12 cases (the paper: all): ") and "`paper-gpt-caselaw`" in sizes[1]


@pytest.mark.parametrize("fault", ["many", [20], float("inf"), 20.7, 0])
def test_a_number_of_cases_in_quotes_is_a_number(fault: object) -> None:
    config = select_experiments(items="courtroom/table4", cases="20")
    assert config["experiments"]["paper-zero-shot"]["cases"] == 20
    entry = {
        "paper-zero-shot": {"cases": "30"},
        "paper-cot": {"cases": fault, "calibration_cases": 5},
    }
    config = merge_over_defaults(
        {"papers": {"items": "courtroom/table4", "cases": 20}, "experiments": entry},
        default_files(PROJECT),
    )
    add_paper_experiments(config, PROJECT)
    assert config["experiments"]["paper-zero-shot"]["cases"] == 20
    assert config["experiments"]["paper-cot"]["cases"] == fault
    with refusal():
        make_plan(config)


def test_missing_passages_stop_the_run_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with refusal():
        select_experiments(items="courtroom/table4", prompts="paper")


def test_printed_prompts_are_used_where_the_paper_prints_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for row in read_rows(PROJECT / PUBLISHED / WORDS_TABLE):
        path = TEMPLATES / row["paper"] / row["protocol"] / row["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("words", encoding="utf-8")
    experiments = select_experiments(items="courtroom", prompts="paper")["experiments"]
    folder = "config/prompts_published/agenticsimlaw/zero_shot"
    assert experiments["paper-zero-shot"]["prompts"] == folder
    assert not experiments["paper-courtroom"].get("prompts"), "the paper prints none"
