"""What items need and a machine lacks is named before the first call; the rest is filled."""

from itertools import chain, product
from pathlib import Path

import pytest

from messages import refusal
from moot.core.config_errors import Faults
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import default_files
from moot.jobs.item_designs import describe_servers, item_commands
from moot.jobs.item_needs import (
    can_run,
    check_something_can_be_filled,
    describe_missing,
    find_missing_baselines,
    find_missing_models,
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
    ollama, key = describe_servers(item, designs)
    assert "Ollama at http://localhost:11434" in ollama and "`gemma2:9b`" in ollama
    assert "OPENAI_API_KEY" in key and "`gpt-4`" in key
    first, with_key, own = item_commands(item, designs)
    assert "models: [gpt-3.5-turbo, gpt-4]" in with_key
    assert "models: [mine], cases: 20" in own and "models" not in first
    assert item_commands(ITEMS["courtroom/table8"], designs) == []
    for name in ("appellate/table1", "decision_conference/table5", "feedback/table4"):
        assert "cases:" not in item_commands(ITEMS[name], designs)[-1], "it has few cases"
