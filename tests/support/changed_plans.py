"""Plans of the shipped or the papers' configuration with changes."""

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from snakemake.utils import update_config

from moot.core.shipped_files import beyond_files, default_files
from moot.plan.plan import Plan

PROJECT = Path(__file__).resolve().parents[2]


@cache
def load_shipped(file: Path) -> Any:
    return yaml.safe_load(file.read_text("utf-8"))


def make_plan(*changes: Mapping[str, Any], paper: bool = False) -> Plan:
    """Return the plan of the default configuration with changes, merged as Snakemake merges.

    With `paper` the papers' configuration is merged before the changes.
    """
    raw: dict[str, Any] = {}
    for file in (*default_files(PROJECT), *(beyond_files(PROJECT) if paper else [])):
        update_config(raw, deepcopy(load_shipped(file)))
    for change in changes:
        update_config(raw, change)
    return Plan.from_yaml(raw, PROJECT)
