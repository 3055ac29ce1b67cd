"""Test the first run of a user: a configuration from a few answers, and its requirements."""

import json
import os
from pathlib import Path

import pandas as pd
import pytest
import yaml

from fault_server import FaultServer
from in_process import default_configuration
from messages import refusal
from moot.commands.doctor import doctor
from moot.commands.init import write_configuration
from moot.commands.preview import describe_trial_runs
from moot.commands.rehearsing import CONFIGURATION, prepare
from moot.core.config import InitConfig
from moot.core.errors import UserError
from moot.core.experiment_config import COMPARISON
from moot.core.printed_commands import STARTED_BY
from moot.plan.plan import Plan
from project_copy import PROJECT

TABLE = PROJECT / "docs/examples/disputes/disputes.csv"
SECRET = "sk-0123456789abcdef0123456789"


@pytest.fixture(autouse=True)
def run_in_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make_plan(text: str, **changes: object) -> Plan:
    return Plan.from_yaml(default_configuration(yaml.safe_load(text) | changes), PROJECT)


def test_answers_on_a_terminal_become_a_configuration_that_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = {
        "model": "qwen",
        "server": "http://localhost:8000/v1",
        "data": str(TABLE),
        "usd": "5",
    }
    questions = []

    def ask(question: str) -> str:
        questions.append(question)
        return next(
            (answer for prefix, answer in answers.items() if question.startswith(prefix)), ""
        )

    report = write_configuration(InitConfig(), ask)
    assert "  text:     facts\n" in report
    plan = make_plan(Path("my.yaml").read_text())
    keys = [text.partition(":")[0] for text in questions]
    assert keys == ["model", "server", "data", "protocol", "question", "usd"]
    assert (
        plan.config.budget.usd == 5
        and plan.config.models["qwen"].base_url == "http://localhost:8000/v1"
    )
    assert plan.experiments.keys() > {"debate-disputes"}
    [contrast] = plan.contrasts_of(COMPARISON)
    assert (contrast.name, contrast.family) == ("debate-adds", COMPARISON)
    assert contrast.direction == "first_higher", "the question asks for more, not for a difference"
    assert "snakemake preview --cores 2 --configfile my.yaml" in report
    monkeypatch.setenv(STARTED_BY, "moot --directory mine")
    Path("my.yaml").unlink()
    write_configuration(InitConfig(), ask)
    command = "#   moot --directory mine preview --cores 2 --configfile mine/my.yaml"
    assert command in Path("my.yaml").read_text()


def test_enter_takes_the_model_on_this_machine_and_a_panel_is_offered() -> None:
    answers = {"data": str(TABLE), "protocol": "panel"}

    def ask(question: str) -> str:
        return answers.get(question.partition(":")[0], "")

    report = write_configuration(InitConfig(), ask)
    assert "It compares the judges' first and last answers" in report
    plan = make_plan(Path("my.yaml").read_text())
    assert plan.experiments["panel-disputes"].config.models == ("smollm2-135m",)
    metrics = [(entry.first.metric, entry.second.metric) for entry in plan.contrasts]
    assert ("agreement_after", "agreement_before") in metrics
    with refusal():
        write_configuration(
            InitConfig(file="b.yaml", model="smollm2-135m", data="vast", protocol="court"), None
        )


def test_all_rows_of_a_small_table_are_debated_and_enter_tables() -> None:
    Path("few.csv").write_text(
        "story,won\nA dog was kept.,tenant\nNo rent was paid.,landlord\nA blank.,\n"
    )
    write_configuration(InitConfig(model="smollm2-135m", data="few.csv", usd=0), None)
    plan = make_plan(Path("my.yaml").read_text())
    assert plan.experiments["debate-few"].config.cases == 2 and plan.config.min_debates == 2
    assert plan.config.shards == min(os.cpu_count() or 1, 2), "a model in the process, on all cores"
    assert not describe_trial_runs(plan)
    too_few = describe_trial_runs(make_plan(Path("my.yaml").read_text(), min_debates=5))
    assert "debate-few: fewer debates than `min_debates` (5)" in too_few[0]
    shipped_model = default_configuration({})["models"]["smollm2-135m"]
    written_model = yaml.safe_load(Path("my.yaml").read_text())["models"]["smollm2-135m"]
    assert written_model == shipped_model, "the model keeps the limits of the default run"
    words = plan.experiments["debate-few"].config.params["words"]
    assert words * 2 <= shipped_model["max_tokens"], "a statement is not cut off"


def test_a_rehearsal_finds_files_outside_its_folder() -> None:
    datasets = {"own": {"path": "../own.csv"}, "cail2018": {"path": "first_stage/test.json"}}
    prepare(Path("rehearsal"), {"datasets": datasets, "data_root": "../raw"})
    prepared = json.loads(Path("rehearsal", CONFIGURATION).read_text())
    outside = Path.cwd().parent
    assert prepared["datasets"] == {**datasets, "own": {"path": str(outside / "own.csv")}}
    assert prepared["data_root"] == str(outside / "raw")


@pytest.mark.parametrize(
    ("heading", "target"),
    [
        ("id,facts,outcome,date,district", "outcome"),
        ("id,facts,Final verdict,date,district", "Final verdict"),
        ("id,facts,who,date,district", "district"),
    ],
)
def test_init_prefers_a_column_whose_name_says_label(
    heading: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcomes = ["tenant", "landlord"] * 15
    outcomes[6], outcomes[16] = "", "tennant"
    rows = [
        f"T{row},The heating failed in winter {row}.,{outcome},2024-01-{row + 1:02},d{row % 3}"
        for row, outcome in enumerate(outcomes)
    ]
    Path("tenancy.csv").write_text("\n".join([heading, *rows]) + "\n", encoding="utf-8")
    init_config = InitConfig(model="smollm2-135m", data="tenancy.csv", usd=0)
    report = write_configuration(init_config, None)
    for line in ("text:     facts", f"target:   {target}", "question: "):
        assert f"  {line}" in report, "it says what it guessed"
    is_named = target != "district"
    assert ("(a guess: the last column" in report) != is_named
    assert ("row 7, column 'outcome': found ''" in report) == (target == "outcome")
    assert "'tennant' (row 17)" in report
    text = Path("my.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["datasets"]["tenancy"]["target"] == target
    assert ('"tennant": "tenant"' in text) == is_named


def test_a_column_that_the_user_gives_is_not_called_a_guess() -> None:
    Path("own.csv").write_text("facts,note,outcome,kind\nA long text.,B,NO,x\nA text.,C,YES,y\n")
    columns = {"text": "note", "target": "kind"}
    init_keys = {"model": "smollm2-135m", "data": "own.csv", "usd": 0}
    report = write_configuration(InitConfig.model_validate(init_keys | columns), None)
    assert "text:     note\n" in report and "target:   kind\n" in report


@pytest.mark.parametrize(
    ("name", "values", "is_id"),
    [
        ("complaint_no", ["A-1", "A-2", "A-3"], True),
        ("Case ID", ["7", "8", "9"], True),
        ("id_of_case", ["x y", "z", "w"], True),
        ("nr", ["1", "2", ""], False),
        ("court", ["north", "south", "north"], False),
    ],
)
def test_init_takes_a_first_column_of_short_cells_that_differ(
    name: str, values: list[str], is_id: bool
) -> None:
    texts = [f"The flight was late by {hours} hours." for hours in range(3)]
    table = pd.DataFrame({name: values, "facts": texts, "outcome": ["NO", "YES", "NO"]})
    table.to_csv("flights.csv", index=False)
    report = write_configuration(InitConfig(model="smollm2-135m", data="flights.csv", usd=0), None)
    column = make_plan(Path("my.yaml").read_text()).datasets["flights"].id
    assert column == (name if is_id else "")
    expected = column or "the row's number"
    assert f"  id:       {expected}\n" in report


def test_init_says_that_the_positive_label_is_a_guess() -> None:
    rows = [f"Paper {number} is {word}.,{word}" for number, word in enumerate(["accept", "reject"])]
    Path("papers.csv").write_text("\n".join(["text,decision", *rows]))
    init_config = InitConfig(model="smollm2-135m", data="papers.csv", usd=0)
    report = write_configuration(init_config, None)
    assert "  positive: reject (a guess: the last by alphabet)\n" in report
    text = Path("my.yaml").read_text()
    assert make_plan(text).datasets["papers"].positive == "reject"
    corrected = text.replace('positive: "reject"', 'positive: "accept"')
    assert make_plan(corrected).datasets["papers"].positive == "accept"


def test_flags_and_hostile_column_names_become_a_configuration() -> None:
    Path("odd.csv").write_text(
        '"text: {x}","yes\'no"\n"a long text # of a case","- A"\n"another long text","*b"\n'
    )
    init_config = InitConfig(model="smollm2-135m", data="odd.csv", question='Who: "me"?', usd=0)
    write_configuration(init_config, None)
    configuration = yaml.safe_load(Path("my.yaml").read_text())
    assert configuration["datasets"]["odd"]["labels"] == {"*b": "*b", "- A": "- A"}
    assert configuration["datasets"]["odd"]["target"] == "yes'no" and "budget" not in configuration


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_column_names_that_yaml_reads_as_booleans_stay_strings(ending: str) -> None:
    frame = pd.DataFrame({"yes": ["a long text", "another text"], "no": ["A", "B"]})
    frame.to_csv("odd.csv", index=False)
    frame.to_json("odd.jsonl", orient="records", lines=True)
    write_configuration(InitConfig(model="smollm2-135m", data=f"odd.{ending}", usd=0), None)
    dataset = yaml.safe_load(Path("my.yaml").read_text())["datasets"]["odd"]
    assert (dataset["text"], dataset["target"]) == ("yes", "no")


@pytest.mark.parametrize(
    ("file", "model", "names"),
    [
        (
            "Tenancy disputes (2024).csv",
            "Qwen/Qwen2.5-7B-Instruct",
            (
                "tenancy-disputes-2024",
                "debate-tenancy-disputes-2024",
                "qwen2.5-7b-instruct",
            ),
        ),
        ("nlsy97.csv", "gpt-4o", ("my-nlsy97", "debate-my-nlsy97", "my-gpt-4o")),
        ("2024.csv", "7", ("table-2024", "debate-table-2024", "model-7")),
        ("no.csv", "yes", ("table-no", "debate-table-no", "model-yes")),
        ("纠纷.csv", "模型", ("table", "debate-table", "model")),
        ("mine.csv", "debate-mine", ("mine", "debate-mine", "debate-mine-model")),
        ("data.v2.csv", "a=b", ("data.v2", "debate-data.v2", "a-b")),
        ("x" * 90 + ".csv", "y" * 90, ("x" * 40, f"debate-{'x' * 40}", "y" * 40)),
    ],
)
def test_data_experiment_and_model_have_telling_names(
    file: str, model: str, names: tuple[str, str, str]
) -> None:
    Path(file).write_text("story,won\nA dog was kept.,tenant\nNo rent was paid.,landlord\n")
    init_config = InitConfig(model=model, server="http://localhost:9/v1", data=file, usd=0)
    write_configuration(init_config, None)
    text = Path("my.yaml").read_text(encoding="utf-8")
    configuration = yaml.safe_load(text)
    dataset, experiment, name = names
    assert len(set(names)) == 3
    assert configuration["run"] == list(configuration["experiments"]) == [experiment]
    assert list(configuration["datasets"]) == [dataset]
    assert list(configuration["models"]) == [name]
    entry = configuration["experiments"][experiment]
    assert (entry["dataset"], entry["models"]) == (dataset, [name])
    assert make_plan(text).config.models[name].model == model


def test_a_wrong_answer_is_asked_again() -> None:
    replies = {
        "server": ["nowhere", "ollama"],
        "data": ["none.csv", "nlsy79", "nlsy97"],
        "protocol": ["court", "courtroom"],
        "usd": ["five", "$5", "-1", "5"],
    }
    questions = []

    def ask(question: str) -> str:
        questions.append(question)
        key = question.splitlines()[-1].partition(":")[0]
        return replies[key].pop(0)

    write_configuration(InitConfig(model="qwen"), ask)
    assert "server 'nowhere'; expected one of" in questions[1] and "none.csv" in questions[3]
    plan = make_plan(Path("my.yaml").read_text())
    assert plan.config.budget.usd == 5 and "my-courtroom-nlsy97" in plan.experiments


@pytest.mark.parametrize(
    "init_keys",
    [
        {},
        {"model": "m", "server": "nowhere"},
        {"model": "m", "server": "ollama", "data": "nlsy79"},
        {"model": "m", "server": "ollama", "data": "none.csv"},
        {"file": "there.yaml"},
    ],
)
def test_a_fault_is_reported_and_nothing_is_written(init_keys: dict[str, str]) -> None:
    Path("there.yaml").write_text("run: [mine]\n")
    with refusal():
        write_configuration(InitConfig.model_validate(init_keys), None)
    assert not Path("my.yaml").exists() and Path("there.yaml").read_text() == "run: [mine]\n"


def make_own_plan(url: str, model: str = "test", **doctor: bool) -> Plan:
    text = f"""
run: [mine]
models:
  mine:
    model: {model}
    base_url: "{url}"
    api_key_env: MY_KEY
    price: {{input: 10, output: 20}}
experiments: {{mine: {{protocol: courtroom, dataset: nlsy97, models: [mine], cases: 3}}}}
"""
    return make_plan(text, doctor=doctor)


def test_without_consent_no_model_is_asked(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reset()
    monkeypatch.setenv("MY_KEY", SECRET)
    report = doctor(make_own_plan(server.url))
    assert server.stats()["requests"] == 0
    assert "mine: not asked; --config 'doctor={make_calls: true}' makes one call" in report
    assert "MY_KEY is set" in report and SECRET not in report


def test_a_call_with_consent_shows_speed_and_schema(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    server.reset(content='{"answer": "yes"}')
    report = doctor(make_own_plan(server.url, make_calls=True))
    assert server.stats()["requests"] == 1
    assert "ok       mine, reply: " in report and "it keeps to a JSON schema" in report
    assert "tokens a second" in report and SECRET not in report
    server.reset(content="no JSON")
    report = doctor(make_own_plan(server.url, make_calls=True))
    assert "?        mine, reply: " in report and "JSON schema not kept: 'no JSON'" in report


def test_all_missing_requirements_are_reported_at_once(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(UserError, match="1 missing") as fault:
        doctor(make_own_plan(server.url, model="another"))
    assert "export MY_KEY=..." in str(fault.value) and "lists test alone; a call" in str(
        fault.value
    )
