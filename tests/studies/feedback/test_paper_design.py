"""Debate-Feedback at the paper's scale: one temperature, runs, both readings of CAIL2018."""

import pytest

from moot.plan.papers_of_run import paper_plan
from moot.plan.plan import Plan
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
