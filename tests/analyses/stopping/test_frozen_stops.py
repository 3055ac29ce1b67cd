"""Test what a frozen plan says of the end of debates, and a margin that contradicts it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import PROJECT, configuration, people
from moot.analyses.stopping.analysis import VALIDITY
from moot.commands.freezing import freeze
from moot.core.errors import UserError
from moot.plan.plan import Plan

CONTRAST = {"first": "planned", "second": "other"}
STOP = {"cases_per_stage": 4, "difference": 0.05, "usd": 2.5}


def make_plan(**contrasts: dict[str, Any]) -> Plan:
    raw = configuration("http://nowhere.invalid", Path(), {})
    entry = {"dataset": "people", "models": list(raw["models"]), "cases": 10}
    raw["experiments"] = {
        "planned": {**entry, "protocol": "zero_shot"},
        "other": {**entry, "protocol": "cot"},
    }
    raw |= {"contrasts": contrasts, "run": [], "min_debates": 1}
    return Plan.from_yaml(raw, PROJECT)


def test_a_frozen_plan_says_when_debates_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    people(tmp_path / "results" / "cases" / "people.parquet", 40)
    plans = [make_plan(main={**CONTRAST, "stop": STOP}), make_plan(main=CONTRAST)]
    for number, plan in enumerate(plans, start=1):
        freeze(plan, Path("results"), datetime(2026, number, 2, tzinfo=UTC))
    first, second = (
        Path(f"data/frozen/plan-{number}.md").read_text().replace("\\.", ".").replace("\\$", "$")
        for number in (1, 2)
    )
    assert "## Stopping" in first
    for text in ("after each 4 cases", "smaller than 0.05", "$2.50"):
        assert text in first
    assert "main: all planned cases are debated." in second
    assert VALIDITY in first
    assert VALIDITY not in second


def test_the_difference_that_matters_is_the_margin() -> None:
    message = r"contrasts.main.margin: `stop: difference` is the margin. Leave `margin` out."
    with pytest.raises(UserError, match=message):
        make_plan(main={**CONTRAST, "margin": 0.1, "stop": STOP})
