"""What an entry under `models` means where moot, a file of the user's and the command line each
have one of its name.
"""

from pathlib import Path

import pytest
import yaml

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.core.model_entries import merge_models
from moot.core.read_config import merge_over_defaults
from project_copy import Workflow

PROJECT = Path(__file__).resolve().parents[2]
SHIPPED = PROJECT / "config" / "models.yaml"


def models(folder: Path, *own: str, given: str = "{}") -> tuple[dict[str, ModelConfig], list[str]]:
    """The entries of the shipped file, of own files and of the command line, as Snakemake merges
    them; and the lines.
    """
    files = [SHIPPED, *(folder / f"my{number}.yaml" for number in range(len(own)))]
    for file, text in zip(files[1:], own, strict=True):
        file.write_text(text, encoding="utf-8")
    line, faults = yaml.safe_load(given), Faults()
    config = merge_over_defaults(line, files)
    kept = merge_models(config, files, [SHIPPED], line, faults)
    faults.check()
    return {
        name: ModelConfig.model_validate(entry) for name, entry in config["models"].items()
    }, kept


def test_an_entry_that_names_a_model_replaces_moots_own_whole(tmp_path: Path) -> None:
    mine = "{endpoint: openai, model: mistral-large-latest, api_key_env: MISTRAL_API_KEY}"
    found, kept = models(
        tmp_path, f"models: {{mistral: {mine}, gpt-4o-mini: {{model: gpt-4o-mini}}}}"
    )
    assert found["mistral"] == ModelConfig.model_validate(yaml.safe_load(mine))
    assert found["mistral"].base_url is None and found["gpt-4o-mini"].structured == "native"
    assert found["gpt-4o-mini"].api_key_env is None and not kept
    assert found["gpt-4o"].structured == "prompted", "what the user does not name stays"


def test_an_entry_that_names_none_changes_moots_own_and_says_what_it_kept(tmp_path: Path) -> None:
    found, kept = models(tmp_path, "models: {gpt-4o: {max_tokens: 99}}")
    assert found["gpt-4o"].max_tokens == 99 and found["gpt-4o"].structured == "prompted"
    [line] = kept
    assert (
        "my0.yaml: models.gpt-4o changes" in line
        and "model 'gpt-4o'" in line
        and "max_tokens" not in line
    )


def test_own_files_change_each_others_entries(tmp_path: Path) -> None:
    first = "models: {gpt-4o: {model: mine, temperature: 0.3}}"
    found, kept = models(
        tmp_path, first, "models: {gpt-4o: {model: other}}", given="{models: {gpt-4o: {seed: 3}}}"
    )
    changed = found["gpt-4o"]
    assert (changed.model, changed.temperature, changed.seed, changed.structured) == (
        "other",
        0.3,
        3,
        "native",
    )
    assert not kept


def test_the_command_line_replaces_and_changes_as_a_file_does(tmp_path: Path) -> None:
    found, kept = models(tmp_path, given="{models: {mistral: {model: m}, gpt-4o: {seed: 3}}}")
    assert found["mistral"] == ModelConfig(model="m")
    assert found["gpt-4o"].seed == 3 and kept[0].startswith("--config: models.gpt-4o changes")


def test_an_entry_extends_another_or_the_earlier_one_of_its_name(tmp_path: Path) -> None:
    mine = """\
models:
  long: {extends: warm, max_tokens: 4096}
  warm: {extends: gpt-4o, temperature: 1}
  mistral: {extends: mistral, model: "mistral:latest"}
"""
    found, kept = models(tmp_path, mine)
    assert found["long"] == found["gpt-4o"].model_copy(
        update={"temperature": 1.0, "max_tokens": 4096}
    )
    assert found["mistral"] == found["phi-4"].model_copy(update={"model": "mistral:latest"})
    assert not kept


@pytest.mark.parametrize(
    ("mine", "message"),
    [
        (
            "{a: {extends: gpt-4, base_url: 'http://x/v1'}}",
            "line 1: models.a.base_url: the key in OPENAI_API_KEY would",
        ),
        (
            "{haiku-3.5: {api_key_env: MINE}}",
            "line 1: models.haiku-3.5.api_key_env: the key in MINE would go to",
        ),
        (
            "{a: {extends: gpt-4p}}",
            "models.a.extends: unknown model 'gpt-4p'; did you mean 'gpt-4'?",
        ),
        (
            "{a: {extends: b}, b: {extends: a}}",
            "models.b.extends: found 'a'; expected an entry that does not extend",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(mine: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"my0\.yaml") as caught:
        models(tmp_path, f"models: {mine}")
    assert message in str(caught.value)


def test_of_many_known_names_the_nearest_are_listed(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        models(tmp_path, "models: {a: {extends: gpt-4p}}")
    assert "more." in str(caught.value) and len(str(caught.value)) < 250


# only it finds what Snakemake makes of the files and of `--config`, in its own process and in a
# job's
@pytest.mark.slow
def test_a_job_asks_the_server_that_the_users_entry_means(tmp_path: Path) -> None:
    workflow = Workflow(tmp_path, "http://127.0.0.1:9")
    mine = {"endpoint": "openai", "model": "mistral-large-latest", "api_key_env": "MINE"}
    workflow.configure(
        {"models/mistral": mine, "run": ["single"], "experiments/single/models": "mistral"}
    )
    done = workflow.run(
        "preview", "--config", "models={mistral: {temperature: 1}, gpt-4: {seed: 3}}"
    )
    assert done.returncode == 0, done.stdout
    line = (
        "mistral: openai, model mistral-large-latest; https://api.openai.com/v1; key from MINE (not"
        " set); temperature 1.0"
    )
    assert f"\n{line}\n" in done.stdout
    assert done.stdout.count("--config: models.gpt-4 changes the entry that moot has; kept: ") == 1
