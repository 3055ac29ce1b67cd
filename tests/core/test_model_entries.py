"""Test how entries of `models` in shipped files, user files and the command line are merged."""

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from messages import refusal
from moot.core.config_errors import Faults
from moot.core.model_config import ModelConfig
from moot.core.model_entries import entries_of_command_line, merge_models
from moot.core.model_values import key_problem
from moot.core.people_instructions import read_instructions
from moot.core.read_config import default_config, merge_over_defaults
from project_copy import Workflow, unedited_copy

PROJECT = Path(__file__).resolve().parents[2]
SHIPPED = PROJECT / "config" / "models.yaml"


def merge_entries(
    folder: Path, *user_texts: str, command_line: str = "{}"
) -> tuple[dict[str, ModelConfig], list[str]]:
    """Merge shipped entries, user files and the command line; return the models and notices."""
    files = [SHIPPED, *(folder / f"my{number}.yaml" for number in range(len(user_texts)))]
    for file, text in zip(files[1:], user_texts, strict=True):
        file.write_text(text, encoding="utf-8")
    line, faults = yaml.safe_load(command_line), Faults()
    config = merge_over_defaults(line, files)
    notices = merge_models(config, files, [SHIPPED], line, faults)
    faults.check()
    return {
        name: ModelConfig.model_validate(entry) for name, entry in config["models"].items()
    }, notices


def test_an_entry_with_a_model_replaces_the_shipped_entry(tmp_path: Path) -> None:
    user_entry = "{endpoint: openai, model: mistral-large-latest, api_key_env: MISTRAL_API_KEY}"
    configs, notices = merge_entries(
        tmp_path, f"models: {{mistral: {user_entry}, gpt-4o-mini: {{model: gpt-4o-mini}}}}"
    )
    assert configs["mistral"] == ModelConfig.model_validate(yaml.safe_load(user_entry))
    assert configs["mistral"].base_url is None and configs["gpt-4o-mini"].structured == "native"
    assert configs["gpt-4o-mini"].api_key_env is None and not notices
    assert configs["gpt-4o"].structured == "prompted", "other entries do not change"


def test_an_entry_without_a_model_changes_the_shipped_entry_with_a_notice(tmp_path: Path) -> None:
    configs, notices = merge_entries(
        tmp_path, "models: {gpt-4o: {max_tokens: 99, omit: [temperature], seed: null}}"
    )
    assert set(configs["gpt-4o"].omit) == {"temperature", "seed"}
    assert configs["gpt-4o"].max_tokens == 99 and configs["gpt-4o"].structured == "prompted"
    [line] = notices
    assert (
        "my0.yaml: models.gpt-4o changes" in line
        and "model 'gpt-4o'" in line
        and "max_tokens" not in line
    )


def test_the_keys_that_the_command_line_gives_are_those_that_no_file_has(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("models: {a: {model: m, seed: 1}, b: {model: n}, c: text}\nseed: 1")
    command_line = {"models": {"a": {"model": "m", "seed": 2, "stream": True}, "d": None, "e": 5}}
    config = merge_over_defaults({**command_line, "seed": 2}, [file])
    changed_keys = {"a": {"seed": 2, "stream": True}, "e": 5}
    assert entries_of_command_line(config, [file]) == {"models": changed_keys}
    assert entries_of_command_line({}, [file]) == {"models": {}}
    assert default_config()["models"]["gpt-4o"]["model"] == "gpt-4o"


def test_batches_and_threads_of_an_entry_are_read() -> None:
    waiting, deferring, single = (
        ModelConfig.model_validate({"model": "m", "concurrency": 3, "batch": batch})
        for batch in (True, {"wait": False}, False)
    )
    assert [entry.defers_replies for entry in (waiting, deferring, single)] == [False, True, False]
    assert single.max_concurrent_calls == 3 < waiting.max_concurrent_calls
    threads = [ModelConfig(model="m", threads=count).threads_within(4) for count in (None, 2, 9)]
    assert threads == [4, 2, 4]


@pytest.mark.parametrize(
    ("key", "problem"),
    [("", "is empty"), (" ", "is empty"), ("sk-é", "beyond ASCII"), ("sk-a", "")],
)
def test_what_cannot_be_a_key_is_not_repeated(
    key: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", key)
    message = key_problem("MINE")
    assert problem in message and bool(message) == bool(problem) and "sk-" not in message


def test_user_files_change_entries_of_each_other(tmp_path: Path) -> None:
    first = "models: {gpt-4o: {model: mine, temperature: 0.3}}"
    configs, notices = merge_entries(
        tmp_path,
        first,
        "models: {gpt-4o: {model: other}}",
        command_line="{models: {gpt-4o: {seed: 3}}}",
    )
    changed = configs["gpt-4o"]
    assert (changed.model, changed.temperature, changed.seed) == ("other", 0.3, 3)
    assert changed.structured == "native"
    assert not notices


def test_the_command_line_replaces_and_changes_entries_like_a_file(tmp_path: Path) -> None:
    configs, notices = merge_entries(
        tmp_path, command_line="{models: {mistral: {model: m}, gpt-4o: {seed: 3}}}"
    )
    assert configs["mistral"] == ModelConfig(model="m")
    assert configs["gpt-4o"].seed == 3 and notices[0].startswith("--config: models.gpt-4o changes")


def test_an_entry_extends_another_entry_or_an_earlier_one_of_the_same_name(tmp_path: Path) -> None:
    user_entry = """\
models:
  long: {extends: warm, max_tokens: 4096}
  warm: {extends: gpt-4o, temperature: 1}
  mistral: {extends: mistral, model: "mistral:latest"}
"""
    configs, notices = merge_entries(tmp_path, user_entry)
    assert configs["long"] == configs["gpt-4o"].model_copy(
        update={"temperature": 1.0, "max_tokens": 4096}
    )
    assert configs["mistral"] == configs["phi-4"].model_copy(update={"model": "mistral:latest"})
    assert not notices


def test_an_entry_without_lists_says_what_it_omits_and_costs() -> None:
    config = ModelConfig.model_validate(
        {"model": "m", "omit": ["temperature"], "seed": None, "price": {"input": 1, "output": 2}}
    )
    assert config.omit == ("temperature", "seed")
    assert config.price_used == "input 1, cached 1, output 2"
    with pytest.raises(ValidationError, match="write `max_tokens` in the model's entry"):
        ModelConfig.model_validate({"model": "m", "parameters": {"maxTokens": 3}})


@pytest.mark.parametrize(
    "user_entry",
    [
        "{a: {extends: gpt-4, base_url: 'http://x/v1'}}",
        "{haiku-3.5: {api_key_env: MINE}}",
        "{a: {extends: gpt-4p}}",
        "{a: {extends: b}, b: {extends: a}}",
    ],
)
def test_a_contradictory_entry_is_refused(user_entry: str, tmp_path: Path) -> None:
    with refusal():
        merge_entries(tmp_path, f"models: {user_entry}")


# Slow: only this test covers how Snakemake passes the files and `--config` to a job, and copies the
# instructions for people.
@pytest.mark.slow
def test_a_job_calls_the_server_of_the_users_entry(tmp_path: Path) -> None:
    workflow = Workflow(tmp_path, "http://127.0.0.1:9", project=unedited_copy())
    user_entry = {"endpoint": "openai", "model": "mistral-large-latest", "api_key_env": "MINE"}
    (workflow.work / "instructions.md").write_text("Read all of it.")
    workflow.configure(
        {
            "models/mistral": user_entry,
            "run": ["single"],
            "experiments/single/models": "mistral",
            "people": {"instructions": "instructions.md"},
        }
    )
    process = workflow.run(
        "preview",
        "--config",
        "models={mistral: {model: mistral-small}, gpt-4: {seed: 3}}",
    )
    assert process.returncode == 0, process.stdout
    assert read_instructions(workflow.work) == "Read all of it."
    server = "https://api.openai.com/v1; key from MINE (not set)"
    line = f"mistral: openai, model mistral-small; {server}"
    assert f"\n{line}\n" in process.stdout
    assert (
        process.stdout.count("--config: models.gpt-4 changes the entry that moot has; kept: ") == 1
    )
