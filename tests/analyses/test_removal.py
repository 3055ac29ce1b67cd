"""Test that everything else works without the folders of analyses and their tests.

Slow: only this test detects a module or a configuration that needs an analysis.
"""

import json
from pathlib import Path

import pytest

import forks
from moot.core.sections import Place, sections_of
from project_copy import PROJECT, unedited_copy

pytestmark = pytest.mark.slow

FOLDERS = sorted(
    path.parent.name for path in (PROJECT / "scripts/moot/analyses").glob("*/__init__.py")
)
PROGRAM = """
import importlib, json, pkgutil, sys
import moot
from moot.core.errors import UserError
from moot.core.read_config import merge_over_defaults, parse_config
from moot.core.shipped_files import SHIPPED, default_files
from moot.datasets import DatasetOptions
from moot.plan.plan import Plan

for module in pkgutil.walk_packages(moot.__path__, "moot."):
    if module.name.startswith("moot.training"):  # its libraries are slow to import
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:  # a library of an extra that is not installed
        if error.name.startswith("moot"):
            raise
trial = {"protocol": "courtroom", "dataset": "nlsy97", "models": "simulated"}
keys = json.loads(sys.argv[1])
trial |= {key: {} for key in keys["experiment"]}
try:
    parse_config(merge_over_defaults({"experiments": {"main": trial}}, default_files()))
except UserError as error:
    print(error)
assert not DatasetOptions.model_fields.keys() & set(keys["dataset"])
Plan.from_yaml(merge_over_defaults({}, default_files()), SHIPPED, default_files()).experiments
"""
"""Imports every module, looks for each key of the analyses in experiments and data sets, and plans
the default run.
"""


def keys_of(place: Place) -> list[str]:
    """Return the keys of a place that analyses register."""
    return [
        section.key
        for section in sections_of(place)
        if (section.module or section.model.__module__).startswith("moot.analyses.")
    ]


def test_everything_else_works_without_the_folders_of_all_analyses(tmp_path: Path) -> None:
    """Linters see to it that no analysis imports another one, so that they may go together.

    Tests of Snakemake run its rules on such a copy.
    """
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    keys = {place: keys_of(place) for place in ("experiment", "dataset")}
    scripts = str(unedited_copy() / "scripts")
    imports = forks.run(program, json.dumps(keys), cwd=tmp_path, PYTHONPATH=scripts)
    assert imports.returncode == 0, imports.stdout[-4000:]
    assert keys["experiment"] and keys["dataset"]
    assert all(f"unknown key '{key}'" in imports.stdout for key in keys["experiment"])


NEEDED_ELSEWHERE = {"arms": ["tests/commands/test_preview_bound.py"]}
"""Files elsewhere that name an analysis, because they test it together with the core."""
