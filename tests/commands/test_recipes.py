"""Run the debates of each recipe in docs/recipes.md against a local server.

Slow: only this test detects a recipe whose debates cannot run.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest
import yaml

from fault_server import FaultServer
from in_process import build_experiments, default_configuration
from moot.plan.plan import Plan
from project_copy import PROJECT

pytestmark = pytest.mark.slow

PAGE = (PROJECT / "docs/recipes.md").read_text(encoding="utf-8")
RECIPES = re.findall(
    r"^## ([^\n]*)(?:(?!^## ).)*?^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE
)
CALLS, CASE_COUNT = Path("results/calls"), 1


@pytest.fixture(autouse=True)
def run_in_new_folder(server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.reset()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(PROJECT / "docs")
    for name in re.findall(r"^    api_key_env: (\w+)", PAGE, re.MULTILINE):
        monkeypatch.setenv(name, f"key of {name}")


def make_plan(text: str, server: FaultServer, cases: int = CASE_COUNT) -> Plan:
    """Return the plan of a recipe: at the local server, with few cases, one model an endpoint."""
    recipe = yaml.safe_load(text)
    for model in recipe["models"].values():
        model["base_url"] = server.host if model["endpoint"] == "ollama" else server.url
    for experiment in recipe["experiments"].values():
        experiment["cases"] = min(cases, experiment["cases"])
        names = experiment["models"] if isinstance(experiment["models"], list) else []
        one_by_endpoint = {recipe["models"][name]["endpoint"]: name for name in reversed(names)}
        experiment["models"] = [*one_by_endpoint.values()] or experiment["models"]
    return Plan.from_yaml(default_configuration({**recipe, "ledger": "ledger"}), PROJECT)


def statuses_of_debates(plan: Plan) -> Mapping[str, pd.Series]:
    """Run all debates, and return their statuses by experiment and model."""
    list(build_experiments(plan))
    paths = sorted(Path("results/predictions").rglob("*.parquet"))
    return {f"{path.parent.name}/{path.stem}": pd.read_parquet(path)["status"] for path in paths}


HELD_BELOW = ("Ten debates first", "Another judge")
RECIPES_HERE = [recipe for recipe in RECIPES if not recipe[0].startswith(HELD_BELOW)]


@pytest.mark.parametrize("recipe", RECIPES_HERE, ids=[title for title, _ in RECIPES_HERE])
def test_the_debates_of_each_recipe_are_held(recipe: tuple[str, str], server: FaultServer) -> None:
    plan = make_plan(recipe[1], server)
    statuses_by_model = statuses_of_debates(plan)
    has_people = any(experiment.people for experiment in plan.experiments.values())
    assert len(statuses_by_model) == sum(
        len(experiment.config.models) for experiment in plan.experiments.values()
    )
    assert all(
        set(statuses) == ({"waiting"} if has_people else {"valid"})
        for statuses in statuses_by_model.values()
    ), statuses_by_model


def recipe_text(beginning: str) -> str:
    return next(text for title, text in RECIPES if title.startswith(beginning))


def test_the_first_cases_are_not_asked_again_and_the_sent_prompt_is_printed(
    server: FaultServer, capsys: pytest.CaptureFixture[str]
) -> None:
    text = recipe_text("Ten debates first")
    call_tables = []
    for cases in (CASE_COUNT, 2 * CASE_COUNT):
        statuses = statuses_of_debates(make_plan(text, server, cases))
        assert all(set(valid) == {"valid"} for valid in statuses.values())
        call_tables.append(pd.read_parquet(CALLS / "first/mine.parquet"))
    assert set(call_tables[0]["call_id"]) < set(call_tables[1]["call_id"])
    assert server.stats()["requests"] == call_tables[1]["call_id"].nunique()
    [example] = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    exec(compile(example, "recipes.md", "exec"), {})
    messages = json.loads(pd.read_parquet(CALLS / "first/mine.parquet")["request"][0])["messages"]
    assert capsys.readouterr().out.splitlines()[0] == messages[0][0]


def test_only_the_new_judge_is_asked(server: FaultServer) -> None:
    statuses = statuses_of_debates(make_plan(recipe_text("Another judge"), server))
    assert all(set(valid) == {"valid"} for valid in statuses.values())
    calls_by_experiment = {
        path.parent.name: pd.read_parquet(path) for path in CALLS.rglob("*.parquet")
    }
    assert set(calls_by_experiment["other-judge-reads"]["model"]) == {"other"}
    call_ids = {
        name: set(calls.loc[calls["model"] == "mine", "call_id"])
        for name, calls in calls_by_experiment.items()
    }
    assert call_ids["other-judge"] < call_ids["own-judge"]
