"""A first run of the user's own: a configuration from a few answers, and what it needs."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import yaml

from fault_server import FaultServer
from in_process import default_configuration
from moot.commands.doctor import doctor
from moot.commands.init import write_configuration
from moot.core.config import InitConfig
from moot.core.errors import UserError
from moot.plan.plan import Plan
from moot.report import TABLES
from project_copy import PROJECT

TABLE = PROJECT / "docs/examples/disputes/disputes.csv"
SECRET = "sk-0123456789abcdef0123456789"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as one:
        yield one


def plan_of(written: str, **more: object) -> Plan:
    return Plan.from_yaml(default_configuration(yaml.safe_load(written) | more), PROJECT)


def test_answers_on_a_terminal_become_a_configuration_that_runs() -> None:
    answers = {
        "model": "qwen",
        "server": "http://localhost:8000/v1",
        "data": str(TABLE),
        "usd": "5",
    }
    asked = []

    def ask(question: str) -> str:
        asked.append(question)
        return next((said for begin, said in answers.items() if question.startswith(begin)), "")

    said = write_configuration(InitConfig(), ask)
    plan = plan_of(Path("my.yaml").read_text())
    assert [one.split("[")[-1] for one in asked if one.startswith(("text", "target"))] == [
        "facts]: ",
        "outcome]: ",
    ]
    assert (
        plan.config.budget.usd == 5
        and plan.config.models["mine"].base_url == "http://localhost:8000/v1"
    )
    assert plan.experiments.keys() > {"mine"}
    assert list(plan.contrasts_of("courtroom")) and not plan.can_fill(
        TABLES["courtroom/table4_prompting"]
    )
    assert "moot preview --cores 2 --configfile my.yaml" in said, "an empty folder has no Snakefile"


def test_a_table_of_few_rows_is_debated_whole_and_enters_tables() -> None:
    Path("few.csv").write_text(
        "story,won\nA dog was kept.,tenant\nNo rent was paid.,landlord\nA blank.,\n"
    )
    write_configuration(InitConfig(model="smollm2-135m", data="few.csv", usd=0), None)
    plan = plan_of(Path("my.yaml").read_text())
    assert plan.experiments["mine"].config.cases == 2 and plan.config.min_debates == 2
    assert plan.config.models["mine"] == plan.config.models["smollm2-135m"], (
        "replies as short as in the default run"
    )


def test_the_same_from_flags_with_hostile_names_of_columns() -> None:
    Path("odd.csv").write_text(
        '"text: {x}","yes\'no"\n"a long text # of a case","- A"\n"another long text","*b"\n'
    )
    given = InitConfig(model="smollm2-135m", data="odd.csv", question='Who: "me"?', usd=0)
    write_configuration(given, None)
    written = yaml.safe_load(Path("my.yaml").read_text())
    assert written["datasets"]["mine"]["labels"] == {"*b": "*b", "- A": "- a"}
    assert written["datasets"]["mine"]["target"] == "yes'no" and "budget" not in written


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_columns_called_as_yaml_calls_truth_and_nothing_stay_words(ending: str) -> None:
    frame = pd.DataFrame({"yes": ["a long text", "another text"], "no": ["A", "B"]})
    frame.to_csv("odd.csv", index=False)
    frame.to_json("odd.jsonl", orient="records", lines=True)
    write_configuration(InitConfig(model="smollm2-135m", data=f"odd.{ending}", usd=0), None)
    written = yaml.safe_load(Path("my.yaml").read_text())["datasets"]["mine"]
    assert (written["text"], written["target"]) == ("yes", "no")


@pytest.mark.parametrize("usd", ["five", "$5", "5}", "-1"])
def test_a_budget_that_is_no_number_is_refused(usd: str) -> None:
    given = InitConfig(model="smollm2-135m", data="nlsy97")
    with pytest.raises(UserError, match=r"budget.usd: found '"):
        write_configuration(given, lambda _: usd)
    assert not Path("my.yaml").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "init: no model; expected the model's name at its server"),
        (
            {"model": "m", "server": "nowhere"},
            "server 'nowhere'; expected one of anthropic, ollama, openai, openrouter",
        ),
        (
            {"model": "m", "server": "ollama", "data": "nlsy79"},
            "data 'nlsy79'; expected a table's path, or one of",
        ),
        ({"model": "m", "server": "ollama", "data": "none.csv"}, "none.csv"),
        ({"file": "there.yaml"}, "there.yaml: is there already"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(given: dict[str, str], message: str) -> None:
    Path("there.yaml").write_text("run: [mine]\n")
    with pytest.raises(UserError, match=message):
        write_configuration(InitConfig.model_validate(given), None)
    assert not Path("my.yaml").exists() and Path("there.yaml").read_text() == "run: [mine]\n"


def mine(url: str, model: str = "test", **doctor: bool) -> Plan:
    written = f"""
run: [mine]
models: {{mine: {{model: {model}, base_url: "{url}", api_key_env: MY_KEY, price: {{input: 10, output: 20}}}}}}
experiments: {{mine: {{protocol: courtroom, dataset: nlsy97, models: [mine], cases: 3}}}}
"""
    return plan_of(written, doctor=doctor)


def test_without_consent_no_model_is_asked(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reset()
    monkeypatch.setenv("MY_KEY", SECRET)
    said = doctor(mine(server.url))
    assert server.stats()["requests"] == 0
    assert (
        "mine: not asked; --config 'doctor={make_calls: true}' asks 3 calls, at most 0.0050 US"
        " dollars" in said
    )
    assert "MY_KEY is set" in said and SECRET not in said


def test_with_consent_three_calls_show_what_a_model_can(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reset()
    monkeypatch.setenv("MY_KEY", SECRET)
    said = doctor(mine(server.url, make_calls=True))
    assert server.stats()["requests"] == 3
    assert (
        "ok       mine, JSON schema: kept" in said
        and "ok       mine, log-probabilities: given" in said
    )
    assert "tokens a second" in said and SECRET not in said


def test_what_a_model_cannot_do_is_no_fault_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    with FaultServer(logprobs="refused") as poor:
        poor.reset(logprobs="refused", content="no JSON")
        said = doctor(mine(poor.url, make_calls=True))
    assert "?        mine, JSON schema: not kept: 'no JSON'" in said
    assert "?        mine, log-probabilities" in said


def test_all_that_is_missing_is_said_at_once(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(UserError, match="2 missing") as fault:
        doctor(mine(server.url, model="another"))
    assert "export MY_KEY=..." in str(fault.value) and "'another' not in: test" in str(fault.value)
    with pytest.raises(UserError, match="gives no answer"):
        doctor(mine("http://localhost:1/v1"))


def test_the_doctor_names_the_file_of_a_table(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("text,won\na,yes\nb,no\n")
    said = doctor(
        plan_of(
            f"run: [a]\ndatasets: {{mine: {{loader: table, path: {table}, text: text, target:"
            " won}}\nexperiments: {a: {protocol: zero_shot, dataset: mine, models:"
            " smollm2-135m, cases: 1}}"
        )
    )
    assert f"data mine: {table}, 0.0 MB" in said


def test_a_table_of_debates_is_looked_at_instead_where_one_is_named() -> None:
    Path("debates.csv").write_text("debate,turn,speaker,text\n1,1,a,hello\n1,2,b,hi\n")
    said = doctor(plan_of("run: [courtroom-nlsy97]", doctor={"table": "debates.csv"}))
    assert "debates.csv: 2 rows, 4 columns" in said and "GB free" not in said
