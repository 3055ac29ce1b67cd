"""All mistakes of a configuration are reported before the first job, with file and key."""

import re
from pathlib import Path

import pytest

from changed_configurations import check_refusal, entries_of, merge_changes
from moot.core.errors import UserError
from moot.plan.plan import Plan
from project_copy import PROJECT, Workflow, unedited_copy

INVALID_ENTRIES = entries_of("bad_references.yaml")


def read_plan(folder: Path, *changes: str) -> Plan:
    """Return the plan of the valid configuration with changes."""
    config, files, faults = merge_changes(folder, *changes)
    return Plan.from_yaml(config, PROJECT, files, faults)


@pytest.mark.parametrize("mistake", INVALID_ENTRIES)
def test_a_bad_reference_is_refused_with_file_and_key(
    mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_refusal(read_plan, tmp_path, INVALID_ENTRIES[mistake])


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    changes = """\
replai: true
models:
  small: {endpoint: opnai, parameters: {messages: [], top_p: .nan}}
datasets:
  texts: {loader: vats, source: sample}
experiments:
  trial: {protocol: courtrom, models: [small, smal], cases: 0}
  next: {protocol: courtroom, dataset: people, models: small, params: {strateg: call}}
contrasts:
  c: {first: trial, second: nxt}
"""
    with pytest.raises(UserError) as caught:
        read_plan(tmp_path, changes)
    messages = str(caught.value).splitlines()
    places = {re.fullmatch(r".*/my\.yaml: ([^ :]+): .*", line)[1] for line in messages}
    assert places == {
        "replai",
        "models.small.endpoint",
        "models.small.parameters.messages",
        "models.small.parameters.top_p",
        "datasets.texts",
        "experiments.trial.protocol",
        "experiments.trial.models",
        "experiments.trial.cases",
        "experiments.next.params.strateg",
        "contrasts.c.second",
    }


VALID_CHANGES = [
    "budget: {usd: 0}\nrun: [tri*]",
    "experiments: {trial: {arms: [noise]}}",
]


@pytest.mark.parametrize("change", VALID_CHANGES)
def test_a_valid_configuration_is_accepted(change: str, tmp_path: Path) -> None:
    read_plan(tmp_path, change)


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
