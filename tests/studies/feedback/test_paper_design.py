"""Debate-Feedback at the paper's scale: one temperature, runs, both readings of CAIL2018."""

from pathlib import Path

import pytest

from moot.papers.parts import ItemRun
from moot.plan.papers_of_run import paper_plan
from moot.plan.plan import Plan
from moot.studies.feedback.papers import example
from paper_items import ITEMS
from results_on_disk import case, experiment_view, study_of, utterance, write_results
from scripted_model import PROJECT

METHODS = ("feedback", "zero_shot", "few_shot", "four_step_cot", "reflexion")


@pytest.fixture(scope="module")
def paper() -> Plan:
    return paper_plan(PROJECT)


def experiments_of(plan: Plan, *protocols: str) -> list[str]:
    names = []
    for name, experiment in plan.experiments.items():
        config = experiment.config
        is_of_study = config.dataset.startswith(("paper-caselaw", "paper-cail18"))
        if is_of_study and config.protocol in protocols and "arm=" not in name:
            names.append(name)
    return names


def test_methods_of_tables_2_and_3_have_one_temperature(paper: Plan) -> None:
    names = experiments_of(paper, *METHODS)
    protocols = {paper.experiments[name].config.protocol for name in names}
    assert protocols == set(METHODS)
    assert {paper.view(name).params["temperature"] for name in names} == {1.0}


@pytest.mark.parametrize("data", ["caselaw", "cail18"])
def test_the_model_of_table_3_also_runs_without_debate(data: str, paper: Plan) -> None:
    single_prompt = paper.experiments[f"paper-gpt-{data}"].config
    for method in ("few-shot", "four-step-cot", "reflexion"):
        compared = paper.experiments[f"paper-{method}-{data}"].config
        assert set(compared.models) <= set(single_prompt.models)
        assert compared.dataset == single_prompt.dataset


def test_the_example_names_opinions(tmp_path: Path) -> None:
    talk = [
        utterance("a#0", 1, "debater 1", "It is.", kind="opening"),
        utterance("a#0", 2, "judge", "Yes.", kind="verdict"),
    ]
    view = experiment_view("feedback")
    results = write_results(tmp_path, [case("a", "yes")], None, {"tiny": talk}, config=view)
    [shown] = example(ItemRun(ITEMS["feedback/table4"], study_of(results, study="feedback")))
    cells = [row.cells for row in shown.rows]
    assert {"debater 1": "opinion: It is."} in cells and {"judge": "judge, verdict: Yes."} in cells
