"""docs/recipes.md: the debates of each file that it shows are held, against a server in place of
every model's.

Slow; only it finds a recipe whose debates cannot be held.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd
import pytest
import yaml

from fault_server import FaultServer
from in_process import built, default_configuration
from moot.core.errors import UserError
from moot.jobs.statement_labels import LabelJob, label_all
from moot.plan.plan import Plan
from project_copy import PROJECT

pytestmark = pytest.mark.slow

PAGE = (PROJECT / "docs/recipes.md").read_text(encoding="utf-8")
RECIPES = re.findall(
    r"^## ([^\n]*)(?:(?!^## ).)*?^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE
)
CALLS, FEW = Path("results/calls"), 1


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as one:
        yield one


@pytest.fixture(autouse=True)
def own_folder(server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.reset()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(PROJECT / "docs")
    for name in re.findall(r"^    api_key_env: (\w+)", PAGE, re.MULTILINE):
        monkeypatch.setenv(name, f"key of {name}")


def plan_of(written: str, server: FaultServer, cases: int = FEW) -> Plan:
    """A recipe laid over the default configuration, with the server's address and few cases."""
    recipe = yaml.safe_load(written)
    for model in recipe["models"].values():
        model["base_url"] = server.host if model["endpoint"] == "ollama" else server.url
    for experiment in recipe["experiments"].values():
        experiment["cases"] = min(cases, experiment["cases"])
    return Plan.from_yaml(default_configuration({**recipe, "ledger": "ledger"}), PROJECT)


def outcomes(plan: Plan) -> Mapping[str, pd.Series]:
    """The debates of each experiment and model, by status."""
    list(built(plan))
    paths = sorted(Path("results/predictions").rglob("*.parquet"))
    return {f"{path.parent.name}/{path.stem}": pd.read_parquet(path)["status"] for path in paths}


@pytest.mark.parametrize("recipe", RECIPES, ids=[title for title, _ in RECIPES])
def test_the_debates_of_each_recipe_are_held(recipe: tuple[str, str], server: FaultServer) -> None:
    plan = plan_of(recipe[1], server)
    found = outcomes(plan)
    seated = any(experiment.people for experiment in plan.experiments.values())
    assert len(found) == sum(
        len(experiment.config.models) for experiment in plan.experiments.values()
    )
    assert all(
        set(statuses) == ({"waiting"} if seated else {"valid"}) for statuses in found.values()
    ), found


def recipe_named(beginning: str) -> str:
    return next(written for title, written in RECIPES if title.startswith(beginning))


def test_the_first_cases_are_not_asked_again_and_the_prompt_that_was_sent_is_printed(
    server: FaultServer, capsys: pytest.CaptureFixture[str]
) -> None:
    written = recipe_named("Ten debates first")
    held = []
    for cases in (FEW, 2 * FEW):
        list(built(plan_of(written, server, cases)))
        held.append(pd.read_parquet(CALLS / "first/mine.parquet"))
    assert set(held[0]["call_id"]) < set(held[1]["call_id"])
    assert server.stats()["requests"] == held[1]["call_id"].nunique()
    [shown] = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    exec(compile(shown, "recipes.md", "exec"), {})
    sent = json.loads(pd.read_parquet(CALLS / "first/mine.parquet")["request"][0])["messages"]
    assert capsys.readouterr().out.splitlines()[0] == sent[0][0]


def test_a_rubric_about_kinds_that_nobody_speaks_is_refused_with_those_there_are(
    server: FaultServer,
) -> None:
    recipe = yaml.safe_load(recipe_named("My spreadsheet, my labels"))
    recipe["rubrics"]["grounds"]["utterance_kinds"] = "plea"
    plan = plan_of(yaml.safe_dump(recipe), server)
    list(built(plan))
    cases, shards = (
        Path("results/cases/disputes.parquet"),
        sorted(Path("results/transcripts/pleas/mine").glob("*")),
    )
    job = LabelJob("pleas", "mine", cases, {("pleas", "mine"): shards})
    with pytest.raises(
        UserError,
        match="nothing was said of the kinds plea; found: closing, opening, rebuttal, verdict",
    ):
        label_all(plan, job)


def test_another_judge_alone_is_asked(server: FaultServer) -> None:
    list(built(plan_of(recipe_named("Another judge"), server)))
    asked = {path.parent.name: pd.read_parquet(path) for path in CALLS.rglob("*.parquet")}
    assert set(asked["other-judge-reads"]["model"]) == {"other"}
    spoken = {
        name: set(calls.loc[calls["model"] == "mine", "call_id"]) for name, calls in asked.items()
    }
    assert spoken["other-judge"] < spoken["own-judge"]
