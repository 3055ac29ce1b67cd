"""All mistakes of a configuration are reported before the first job, with file and key."""

import re
from pathlib import Path
from typing import Any

import pytest

from messages import refusal
from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.model_entries import merge_models
from moot.core.read_config import merge_over_defaults
from moot.core.yaml_text import load_yaml
from moot.plan.plan import Plan
from project_copy import Workflow, unedited_copy

PROJECT = Path(__file__).resolve().parents[2]
VALID_CONFIGURATION = """\
seed: 1
models:
  small: {model: gpt, base_url: "http://localhost:1/v1"}
  other: {model: gpt, base_url: "http://localhost:2/v1"}
datasets:
  people: {loader: nlsy97, source: synthetic}
experiments:
  trial: {protocol: courtroom, dataset: people, models: [small, other]}
"""
INVALID_ENTRIES: dict[str, dict[str, Any]] = load_yaml(
    (PROJECT / "tests/data/bad_configurations.yaml").read_text("utf-8")
)


def read_plan(folder: Path, *changes: str) -> Plan:
    """Return the plan of the valid configuration and of files that change it, as Snakemake merges.

    The files are my.yaml, my1.yaml and so on.
    """
    files = [folder / "good.yaml"]
    files += [folder / f"my{number or ''}.yaml" for number in range(len(changes))]
    for file, text in zip(files, (VALID_CONFIGURATION, *changes), strict=True):
        file.write_text(text, encoding="utf-8")
    config = merge_over_defaults({}, files)
    faults = Faults()
    merge_models(config, files, [], {}, faults)
    return Plan.from_yaml(config, PROJECT, files, faults)


def write_entry(entry: dict[str, Any]) -> str:
    """Return the text of the user's file; a change of one entry is on its third line."""
    for section, name in (("model", "small"), ("experiment", "trial")):
        if section in entry:
            change = str(entry[section])
            is_whole = change.startswith("{") or "\\" in change
            body = change if is_whole else f"{{{change}}}"
            return f"{section}s:\n  {name}:\n    {body}\n"
    return str(entry["yaml"]) + "\n"


@pytest.mark.parametrize("mistake", INVALID_ENTRIES)
def test_a_bad_configuration_is_refused_with_file_and_key(
    mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    entry = INVALID_ENTRIES[mistake]
    with pytest.raises(UserError) as caught:
        read_plan(tmp_path, write_entry(entry))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path}/my.yaml: "), message
    assert "\n" not in message, "one mistake, one line"
    for words in entry["says"]:
        assert words in message, message
    if "hides" in entry:
        assert entry["hides"] not in message


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    changes = """\
replai: true
seed: many
budget: {usd: .nan}
models:
  small: {endpoint: opnai, concurrency: 0, parameters: {messages: [], top_p: .nan, n: 2}, $KEY}
  other: {base_url: "http://me:pw@host/v1", temprature: 1}
  third: {endpoint: openai}
datasets:
  people: {narative: list}
  texts: {loader: vats, source: sample}
experiments:
  trial: {protocol: courtrom, models: [small, smal, third], cases: 0, labelers: [rule]}
  next: {protocol: courtroom, dataset: peple, models: third, params: $PARAMS}
  alone: {protocol: cot, dataset: people, models: small, control_of: trial}
contrasts:
  c: {first: trial, second: nxt}
  d: {first: next/third, second: next/small, metric: acuracy}
"""
    changes = changes.replace("$KEY", "api_key_env: sk-0123456789abcd")
    changes = changes.replace("$PARAMS", "{strateg: call, seats: {jury: small}}")
    with pytest.raises(UserError) as caught:
        read_plan(tmp_path, changes)
    messages = str(caught.value).splitlines()
    places = sorted(re.fullmatch(r".*/my\.yaml: ([^ :]+): .*", line)[1] for line in messages)
    assert places == sorted(
        [
            "replai",
            "seed",
            "budget.usd",
            "models.small.endpoint",
            "models.small.concurrency",
            "models.small.parameters.messages",
            "models.small.parameters.n",
            "models.small.parameters.top_p",
            "models.small.api_key_env",
            "models.other.base_url",
            "models.other.temprature",
            "models.third.model",
            "datasets.people.narative",
            "datasets.texts",
            "experiments.trial.protocol",
            "experiments.trial.models",
            "experiments.trial.cases",
            "experiments.trial.labelers",
            "experiments.next.dataset",
            "experiments.next.params.strateg",
            "experiments.alone",
            "contrasts.c.second",
            "contrasts.d.second",
        ]
    )


VALID_CHANGES = [
    (
        "models: {small: {parameters: {top_p: 0.9, reasoning_effort: low, stop: [END],"
        " chat_template_kwargs: {thinking: false}}}}"
    ),
    "models: {small: {endpoint: ollama, base_url: 'localhost:11434', parameters: {top_k: 5}}}",
    "models: {small: {base_url: 'https://[::1]:8443/v1/', api_key_env: MY_KEY_2}}",
    (
        "models: {small: {base_url: 'http://my_host.example:80', api_key_env:"
        " my_long_openai_api_key_number_2}}"
    ),
    "models: {small: {served_as: 'http://user:pw@old/v1'}}",
    "models: {small: &entry {model: a, base_url: 'http://a/v1'}, other: {<<: *entry, model: b}}",
    "budget: {usd: 0}\nrun: [tri*]",
    "experiments: {trial: {arms: [noise]}}",
]


@pytest.mark.parametrize("change", VALID_CHANGES)
def test_a_valid_configuration_is_accepted(change: str, tmp_path: Path) -> None:
    read_plan(tmp_path, change)


def test_a_key_is_not_sent_to_the_server_of_another_files_entry(tmp_path: Path) -> None:
    first = (
        "models: {mistral: {endpoint: ollama, model: 'mistral:7b', base_url:"
        " 'http://localhost:11434'}}"
    )
    own_entry = "models:\n  mistral:\n    endpoint: openai\n    api_key_env: MISTRAL_API_KEY\n"
    with refusal():
        read_plan(tmp_path, first, own_entry)
    read_plan(tmp_path, first, own_entry + "    base_url: https://api.mistral.ai/v1\n")
    paid_entry = "models: {paid: {model: gpt-4o, api_key_env: PAID, base_url: 'https://paid/v1'}}"
    with refusal():
        read_plan(tmp_path, paid_entry, "models: {paid: {base_url: 'http://x/v1'}}")


def test_a_base_url_of_the_environment_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:hunter2@host:99999/v1")
    with pytest.raises(
        UserError, match=r"models\.small\.base_url: the environment variable OPENAI_BASE_URL: "
    ) as caught:
        read_plan(tmp_path, "models: {small: {base_url: null}}")
    assert "hunter2" not in str(caught.value)


@pytest.mark.slow  # only this test detects a message that Snakemake repeats
def test_snakemake_prints_each_mistake_once_and_starts_no_job(tmp_path: Path) -> None:
    workflow = Workflow(tmp_path, "http://127.0.0.1:9", project=unedited_copy())
    mistakes = {
        "models/served/endpoint": "opnai",
        "models/served/parameters": {"messages": []},
        "replai": True,
    }
    workflow.configure({**mistakes, "models/served/api_key_env": "sk-planted-0123456789abcdef"})
    process = workflow.run("results/cases/people.parquet")
    assert process.returncode == 1
    for words in (
        "unknown endpoint 'opnai'",
        "parameters.messages",
        "unknown key 'replai'",
        "looks like an API key",
    ):
        assert process.stdout.count(words) == 1, process.stdout
    assert not re.search("Traceback|WorkflowError|sk-planted", process.stdout), process.stdout
    assert not (workflow.work / "results" / "cases").exists()
