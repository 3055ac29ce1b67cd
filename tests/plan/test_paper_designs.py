"""The papers' designs contain nothing that moot adds; config/beyond.yaml merges over them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import SHIPPED, beyond_files, default_files, paper_files
from moot.plan.plan import Plan

ADDITIONS = {"arms", "arm_models", "arm_cases", "labelers"}


def read_design(file: Path) -> dict[str, Any]:
    design: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return design


@pytest.mark.parametrize("file", paper_files(), ids=lambda file: file.stem)
def test_the_design_of_a_paper_is_complete_and_adds_nothing(file: Path) -> None:
    design = read_design(file)
    for name, entry in design["experiments"].items():
        assert not {"arms", "arm_models", "arm_cases"} & entry.keys(), name
        assert entry["dataset"] in design["datasets"], name
    for name, dataset in design["datasets"].items():
        assert not {"exchange", "outcome_phrases"} & dataset.keys(), name
    files = [*default_files(), file]
    plan = Plan.from_yaml(merge_over_defaults({}, files), SHIPPED, files)
    assert {name.partition("/")[0] for name in plan.experiments} >= {
        name for name, entry in design["experiments"].items() if "grid" not in entry
    }


def test_what_moot_adds_changes_no_setting_of_a_paper() -> None:
    papers = merge_over_defaults({}, paper_files())
    additions = read_design(beyond_files()[-1])
    for name in additions["experiments"].keys() & papers["experiments"].keys():
        assert additions["experiments"][name].keys() <= ADDITIONS, name
    assert not additions["datasets"].keys() & papers["datasets"].keys()
    files = [*default_files(), *beyond_files()]
    plan = Plan.from_yaml(merge_over_defaults({}, files), SHIPPED, files)
    assert {"paper-courtroom", "paper-courtroom-repeated"} <= plan.experiments.keys()
