"""Plans of two planned experiments with a contrast, to freeze and to compare."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from courtroom_runs import PROJECT, configuration
from moot.plan.plan import Plan

FIRST_FREEZE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
EXPERIMENT = {"protocol": "zero_shot", "dataset": "people", "models": ["m"], "cases": 10}
OTHER_EXPERIMENT = {"protocol": "cot", "dataset": "people", "models": ["m"], "cases": 10}
RESULTS = Path("results")
CONTRAST = {"first": "planned", "second": "other"}


def make_plan(change: dict[str, Any] | None = None, **keys: Any) -> Plan:
    raw = configuration("http://nowhere.invalid", Path(), {})
    raw["models"] = {
        "m": {"model": "m", "base_url": "http://nowhere.invalid", **keys.pop("model", {})}
    }
    raw["experiments"] = {"planned": EXPERIMENT | (change or {}), "other": OTHER_EXPERIMENT}
    raw |= {"contrasts": {"main": CONTRAST}, "run": [], "min_debates": 1}
    return Plan.from_yaml({**raw, **keys}, PROJECT)
