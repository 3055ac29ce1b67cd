"""What items need and a machine lacks is named before the first call; the rest is filled."""

from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest

from messages import refusal
from moot.core.config_errors import Faults
from moot.core.errors import UnreachableError, UserError
from moot.core.model_config import ModelConfig
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import default_files
from moot.jobs import item_needs
from moot.jobs.item_designs import describe_needs, item_commands
from moot.jobs.item_needs import (
    can_run,
    check_something_can_be_filled,
    describe_missing,
    find_missing_baselines,
    find_missing_models,
    has_predictions,
    keep_missing,
    loaders_without_files,
    read_missing,
)
from moot.papers.selection import add_paper_experiments
from moot.plan.papers_of_run import read_designs
from moot.plan.plan import Plan
from paper_items import ITEMS

PROJECT = Path(__file__).resolve().parents[2]
CLOSED = "http://127.0.0.1:9"
"""An address at which no server listens."""


def plan_of(item: str) -> Plan:
    config = merge_over_defaults({"papers": {"items": item}}, default_files(PROJECT))
    for entry in config["models"].values():
        if entry["endpoint"] == "ollama":
            entry["base_url"] = CLOSED
    add_paper_experiments(config, PROJECT)
    return Plan.from_yaml(config, PROJECT, default_files(PROJECT), Faults())


def runs_of(plan: Plan) -> list[tuple[str, str]]:
    entries = plan.experiments.values()
    return list(
        chain.from_iterable(product([entry.name], entry.config.models) for entry in entries)
    )


def test_without_ollama_the_models_of_an_api_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    plan, item = plan_of("decision_conference/table1"), ITEMS["decision_conference/table1"]
    runs = runs_of(plan)
    missing = find_missing_models(plan, runs)
    runnable = [model for _, model in runs if can_run(plan, "paper-stance-vast", model, missing)]
    assert runnable == ["gpt-3.5-turbo", "gpt-4"]
    (line,) = describe_missing(plan, [item], runs, missing, {})
    assert line.startswith(f"no server answers at {CLOSED}") and "gemma-7b" in line
    check_something_can_be_filled([item], [line], runnable, [])


def test_debates_that_read_missing_debates_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    plan = plan_of("decision_conference/table5")
    missing = find_missing_models(plan, runs_of(plan))
    assert "OPENAI_API_KEY" in missing["gpt-4"]
    assert not any(can_run(plan, *run, missing) for run in runs_of(plan))
    assert all(can_run(plan, *run, {}) for run in runs_of(plan))


def test_nothing_to_fill_stops_before_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TABPFN_MODEL_CACHE_DIR", raising=False)
    item = ITEMS["courtroom/table3"]
    baselines = find_missing_baselines([item])
    lines = list(describe_missing(plan_of("courtroom/table3"), [item], [], {}, baselines))
    with refusal():
        check_something_can_be_filled([item], lines, [], baselines)
    both = [item, ITEMS["courtroom/table1"]]
    check_something_can_be_filled(both, lines, [], baselines)


def test_an_item_names_its_servers_and_commands() -> None:
    designs, item = read_designs(PROJECT).values(), ITEMS["decision_conference/table1"]
    debates, ollama, key = describe_needs(item, designs)
    assert debates == "`paper-stance-vast`: 6 models, all cases, on `paper-vast-nearest`."
    assert "Ollama at http://localhost:11434" in ollama and "`gemma2:9b`" in ollama
    assert "OPENAI_API_KEY" in key and "`gpt-4`" in key
    first, with_key, own = item_commands(item, designs)
    assert "models: [gpt-3.5-turbo, gpt-4]" in with_key
    assert "models: [mine], cases: 20" in own and "models" not in first
    assert item_commands(ITEMS["courtroom/table8"], designs) == []
    for name in ("appellate/table1", "decision_conference/table5", "feedback/table4"):
        assert "cases:" not in item_commands(ITEMS[name], designs)[-1], "it has few cases"


def test_each_server_is_asked_once_and_what_it_lacks_is_named_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_addresses: list[str] = []

    async def list_models(model: ModelConfig) -> list[dict[str, str]]:
        asked_addresses.append(model.base_url or "")
        if model.base_url == "http://down":
            raise UnreachableError("refused")
        if model.base_url == "http://silent":
            raise UserError("HTTP 403")
        return [{"name": "gemma:latest"}, {"id": "qwen:7b"}]

    monkeypatch.setattr(item_needs, "list_models", list_models)
    monkeypatch.delenv("NO_KEY", raising=False)
    models: dict[str, dict[str, Any]] = {
        "gemma": {"endpoint": "ollama", "model": "gemma", "base_url": "http://up"},
        "qwen": {"endpoint": "ollama", "model": "qwen:7b", "base_url": "http://up"},
        "phi": {"endpoint": "ollama", "model": "phi", "base_url": "http://up"},
        "mistral": {"endpoint": "ollama", "model": "mistral", "base_url": "http://down"},
        "silent": {"model": "m", "base_url": "http://silent"},
        "keyless": {"model": "m", "base_url": "http://keyless", "api_key_env": "NO_KEY"},
        "packaged": {"endpoint": "embedded", "model": "smollm2-135m"},
    }
    trial = {"protocol": "zero_shot", "dataset": "nlsy97", "models": [*models], "cases": 1}
    files = {"nlsy97": {"source": "local"}, "vast": {"source": "sample"}}
    source = {"source_experiment": "trial", "source_model": "keyless"}
    second_trial = {**trial, "protocol": "rejudge", "models": ["gemma", "phi"], "params": source}
    config = {"models": models, "datasets": files, "data_root": str(tmp_path)}
    config |= {"experiments": {"trial": trial, "again": second_trial}, "run": ["trial", "again"]}
    plan = Plan.from_yaml(merge_over_defaults(config, default_files(PROJECT)), PROJECT)
    missing = find_missing_models(plan, runs_of(plan))
    assert sorted(asked_addresses) == ["http://down", "http://silent", "http://up"]
    down = "no server answers at http://down (refused; ollama serve)"
    absent = "Ollama at http://up has no phi (ollama pull phi)"
    no_key = "the environment variable NO_KEY is empty"
    assert missing == {"keyless": no_key, "mistral": down, "phi": absent}
    assert list(describe_missing(plan, [], runs_of(plan), missing, {})) == [
        f"{absent}: trial/phi, again/phi",
        f"{down}: trial/mistral",
        f"{no_key}: trial/keyless",
        "debates that it reads are missing: again/gemma",
    ]
    keep_missing(missing)
    assert read_missing() == missing
    assert loaders_without_files(plan, files) == ["nlsy97"]
    monkeypatch.chdir(tmp_path)
    path = Path("results/predictions/trial/gemma.parquet")
    path.parent.mkdir(parents=True)
    path.touch()
    assert [name for name in models if has_predictions("trial", name)] == ["gemma"]
