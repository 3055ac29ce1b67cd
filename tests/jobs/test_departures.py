"""Departures from the papers: each agrees with moot's prompts and with the run."""

import csv
from pathlib import Path
from typing import Any

import pytest

from changed_plans import make_plan
from moot.jobs.papers import departures
from moot.plan.papers_of_run import paper_plan, view_paper
from moot.plan.plan import Plan
from paper_items import ITEMS, PAPERS
from printed_prompts import copy_with_words, printed_prompts
from scripted_model import PROJECT

PROMPTS = PROJECT / "config" / "prompts"
PROMPTS_OF_OURS = {
    "Ours calls the court a simulation": ("panel/base.jinja", "is being simulated"),
    "Ours asks to cite cases": ("panel/base.jinja", "where any are known"),
    "Ours asks for a heading": ("panel/script.jinja", "heading"),
    "All prompts are ours": ("courtroom/statement.jinja", "three or four sentences"),
    "The paper's prompt asks whether": ("prompting/base.jinja", "task.question"),
    "Our prompt explains the labels": ("stance/base.jinja", "task.meaning[label]"),
}


def rows() -> list[dict[str, str]]:
    path = PROJECT / "data" / "published" / "departures.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def departures_of(name: str, plan: Plan | None = None) -> str:
    run = view_paper(plan or paper_plan(PROJECT), PAPERS[ITEMS[name].paper])
    return "\n".join(departures(run, ITEMS[name]))


def test_each_departure_has_a_run_and_a_known_part() -> None:
    assert {row["part"] for row in rows()} == {"", "prompts"}
    plan = paper_plan(PROJECT)
    pairs = set()
    for run in plan.experiments.values():
        loader = plan.datasets[run.config.dataset].loader or run.config.dataset
        pairs.add((run.config.protocol, loader))
    for row in rows():
        assert row["departure"].endswith(".")
        for protocol in row["protocols"].split():
            assert {(protocol, data) for data in row["data"].split()} & pairs, row


def test_what_departures_say_of_our_prompts_is_in_them() -> None:
    for start, (template, words) in PROMPTS_OF_OURS.items():
        assert any(row["departure"].startswith(start) for row in rows()), start
        assert words in (PROMPTS / template).read_text("utf-8"), start


@pytest.mark.parametrize(
    ("name", "entry", "expected", "changed"),
    [
        ("courtroom/table4", {"params": {"shots": 12}}, "our 30 are", "our 12 are"),
        ("decision_conference/table1", {"params": {"temperature": 0.4}}, "is 0.", "is 0.4."),
        ("feedback/table3", {"params": {"reflections": 1}}, "are 2 reflections", "are 1 reflect"),
        ("decision_conference/table5", {"params": {"rounds": 5}}, "3 rounds a", "5 rounds a"),
        ("feedback/table2", {"repeats": 3}, "from 2 debates of each of 600", "from 3 debates"),
    ],
)
def test_a_departure_has_the_values_of_the_run(
    name: str, entry: dict[str, Any], expected: str, changed: str
) -> None:
    experiments = {
        "courtroom/table4": "paper-n-shot-cot",
        "decision_conference/table1": "paper-stance-vast",
        "feedback/table3": "paper-reflexion-caselaw",
        "decision_conference/table5": "paper-conference",
        "feedback/table2": "paper-feedback-training-caselaw",
    }
    assert expected in departures_of(name)
    plan = make_plan({"experiments": {experiments[name]: entry}}, paper=True)
    assert changed in departures_of(name, plan)


def test_counts_of_the_papers_design_and_data_are_not_those_of_a_run() -> None:
    text = departures_of("courtroom/table5")
    assert "runs the 20 that" in text and "ask for 16384 tokens" in text
    changes = {"experiments": {"paper-courtroom": {"models": ["smollm2-135m"]}}}
    assert departures_of("courtroom/table5", make_plan(changes, paper=True)) == text
    assert "fewer than 10 cases" in departures_of("feedback/table2")
    data = {"datasets": {"paper-cail18": {"source": "sample", "min_cases": 0}}}
    assert "714 test cases" not in departures_of("feedback/table2", make_plan(data, paper=True))


def test_a_departure_of_a_value_that_the_design_lacks_is_left_out() -> None:
    assert "paper-feedback-training-caselaw" in departures_of("feedback/table2")
    assert "paper-feedback-training-caselaw" not in departures_of("feedback/table5")


def test_prompts_in_the_papers_words_depart_in_no_words(papers: Path, tmp_path: Path) -> None:
    folder = "triem/panel"
    words = printed_prompts(papers)[folder]
    target = copy_with_words(folder, words, tmp_path / "typed")
    entry = {"paper-multiagent-panel": {"prompts": str(target)}}
    text = departures_of("appellate/figure6", make_plan({"experiments": entry}, paper=True))
    assert "our paraphrases" in text
    assert "calls the court a simulation" not in text
    assert "calls the court a simulation" in departures_of("appellate/figure6")


def test_training_on_eval_json_is_what_the_data_set_does() -> None:
    files = dict(paper_plan(PROJECT).datasets["paper-caselaw"].files)
    with (PROJECT / "data/versions.csv").open(encoding="utf-8", newline="") as file:
        addresses = {
            row["path"]: row["url"] for row in csv.DictReader(file) if row["role"] == "primary"
        }
    assert "eval.json" in addresses[files["train"]] and "test.json" in addresses[files["test"]]
