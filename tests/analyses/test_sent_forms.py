"""Each form of an analysis is pinned in the tests of its folder."""

import importlib
import pkgutil
from pathlib import Path

import pytest

import moot.analyses
from sent_schemas import form_names

FOLDERS = [module.name for module in pkgutil.iter_modules(moot.analyses.__path__)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_form_of_an_analysis_is_pinned(folder: str) -> None:
    names = set(form_names(importlib.import_module(f"moot.analyses.{folder}")))
    sources = [
        path.read_text(encoding="utf-8")
        for path in (Path(__file__).parent / folder).glob("test_*.py")
    ]
    pinning = "".join(source for source in sources if "assert_schema_is_pinned" in source)
    assert {name for name in names if f'"{name}"' not in pinning} == set()
