"""Debate-Feedback at the paper's scale: one temperature, runs, both readings of CAIL2018."""

from pathlib import Path

import pytest

from moot.core.read_config import default_config
from moot.datasets import LOADERS, LoadContext
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


@pytest.mark.parametrize("data", ["caselaw", "cail18"])
def test_the_assistant_learns_from_several_runs_in_the_form_that_it_reads(
    data: str, paper: Plan
) -> None:
    training = paper.experiments[f"paper-feedback-training-{data}"].config
    assisted = paper.view(f"paper-feedback-assistant-{data}").params
    assert training.repeats > 1 and assisted["assistant"] == f"paper-feedback-training-{data}"
    trained = paper.view(f"paper-feedback-training-{data}").params
    assert trained["statement_summaries"] and assisted["statement_summaries"]
    assert not trained["memory"] and not assisted["memory"]


def test_both_readings_of_cail18_are_offered(paper: Plan) -> None:
    multilabel, single = (
        paper.datasets[f"paper-{name}"].model_dump() for name in ("cail18", "cail18-one-article")
    )
    assert multilabel["multi_label"] is None and single["multi_label"] is False
    for name in ("paper-feedback-single", "paper-gpt"):
        config = paper.experiments[f"{name}-cail18-one-article"].config
        assert config.dataset == "paper-cail18-one-article"


def test_the_articles_and_test_cases_that_are_left(paper: Plan, shared_data: Path) -> None:
    seed = default_config(PROJECT)["seed"]
    options = paper.datasets["paper-cail18"].model_copy(update={"source": "local"})
    context = LoadContext("paper-cail18", shared_data, PROJECT, seed)
    loaded = LOADERS["cail18"].load(options, context)
    tested = sum(case.split == "test" for case in loaded.cases)
    departures = (PROJECT / "data/published/departures.csv").read_text("utf-8")
    assert (
        f"leaves {len(loaded.task.labels)} articles and, with the default seed, {tested} test cases"
        in departures
    )
