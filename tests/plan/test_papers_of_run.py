"""A run shows the items of a paper only if one of its experiments belongs to the paper."""

import re
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from moot.core.read_config import default_config
from moot.core.shipped_files import SHIPPED
from moot.papers.selection import add_paper_experiments
from moot.plan.papers_of_run import papers_of_run, view_paper
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from moot.workflow import targets
from paper_items import PAPERS

ITEM = re.compile(r"results/(?:papers/|(?:tables|figures)/\w+/(?:table|figure)\d)")
ALL_PAPERS = {"appellate", "decision_conference", "courtroom", "feedback"}
OWN_DATA: dict[str, Any] = {
    "loader": "table",
    "path": "disputes.csv",
    "text": "facts",
    "target": "outcome",
    "labels": {"no": "no", "yes": "yes"},
    "question": "Was it granted?",
}


def make_plan(folder: Path, **config: Any) -> Plan:
    """Return the plan of a configuration over the default one, with a table in `folder`."""
    rows = [
        f"what happened in dispute {number},{('no', 'yes')[number % 2]}" for number in range(20)
    ]
    (folder / "disputes.csv").write_text("\n".join(["facts,outcome", *rows]) + "\n")
    raw = default_config()
    raw["models"]["mine"] = {"model": "gpt-x", "base_url": "http://localhost:9/v1"}
    raw["datasets"]["disputes"] = {**OWN_DATA, "path": str(folder / "disputes.csv")}
    for section in ("experiments", "datasets"):
        raw[section] |= config.pop(section, {})
    raw |= config
    add_paper_experiments(raw, SHIPPED)
    return Plan.from_yaml(raw, SHIPPED)


def items_in(plan: Plan) -> list[str]:
    return [path for path in targets.page_contents(plan) if ITEM.match(path)]


def own_experiment(protocol: str, **keys: Any) -> dict[str, Any]:
    return {"protocol": protocol, "dataset": "disputes", "models": ["mine"], "cases": 10, **keys}


@pytest.mark.parametrize(
    "experiments",
    [
        {"debate": own_experiment("courtroom", arms=["alone"])},
        {"grid": own_experiment("courtroom", grid={"temperature": [0, 1]})},
        {"trial": own_experiment("courtroom", cases=2)},
        {"feedback": own_experiment("feedback", params={"weight": 1})},
        {"courtroom-nlsy97": own_experiment("courtroom")},
    ],
    ids="+".join,
)
def test_an_own_table_shows_no_item_of_a_paper(tmp_path: Path, experiments: dict[str, Any]) -> None:
    plan = make_plan(tmp_path, experiments=experiments, run=list(experiments))
    assert papers_of_run(plan) == frozenset()
    assert items_in(plan) == []
    assert any(path.startswith("results/tables/") for path in targets.page_contents(plan))
    for registry in (TABLES, FIGURES):
        jobs = targets.names_by_job(plan, registry)
        names = list(chain.from_iterable(jobs.values()))
        shown_names = [name for name in registry if registry[name].study in plan.studies]
        assert sorted(names) == sorted(shown_names), "each may be requested"


@pytest.mark.parametrize(
    ("run", "papers"),
    [
        (["courtroom-nlsy97"], {"courtroom"}),
        (["recorded-debate"], {"courtroom"}),
        (["stance-vast"], {"decision_conference"}),
        (["four-step-cot-caselaw"], {"feedback"}),
        (["courtroom-nlsy97", "stance-vast", "debate"], {"courtroom", "decision_conference"}),
        (["debate"], set()),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else None,
)
def test_shipped_experiments_belong_to_the_papers_of_their_studies(
    tmp_path: Path, run: list[str], papers: set[str]
) -> None:
    plan = make_plan(tmp_path, experiments={"debate": own_experiment("courtroom")}, run=run)
    assert papers_of_run(plan) == papers
    pages = {Path(path).stem for path in items_in(plan) if path.endswith(".html")}
    pages &= ALL_PAPERS
    assert pages == papers
    for name in papers:
        files = targets.paper_files(PAPERS[name])
        assert set(files) <= set(items_in(plan))


def test_the_default_run_shows_all_items(tmp_path: Path) -> None:
    plan = make_plan(tmp_path)
    assert papers_of_run(plan) == ALL_PAPERS
    paper = PAPERS["courtroom"]
    view = view_paper(plan, paper)
    assert (view.paper, view.seed, view.models) == (paper, plan.config.seed, plan.config.models)
    for design in view.designs.values():
        assert design.models.keys() >= set(design.view.models)
    for registry in (TABLES, FIGURES):
        filled_names = [name for name in registry if plan.can_fill(registry[name])]
        assert targets.nonempty_names(plan, registry) == filled_names


@pytest.mark.parametrize("source", ["synthetic", "local"])
def test_an_own_experiment_on_the_papers_data_belongs_to_it(tmp_path: Path, source: str) -> None:
    data = {"loader": "nlsy97", "source": source}
    entry = {**own_experiment("courtroom"), "dataset": "people"}
    plan = make_plan(
        tmp_path, datasets={"people": data}, experiments={"debate": entry}, run=["debate"]
    )
    assert papers_of_run(plan) == {"courtroom"}
    assert "results/papers/courtroom/table5.csv" in items_in(plan)
