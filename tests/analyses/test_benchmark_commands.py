"""Each command of a page that runs a benchmark names one, here or among an analysis' tests."""

import importlib
import re
import runpy
from types import ModuleType

import pytest

from project_copy import PROJECT

PAGES = [*PROJECT.glob("docs/*.md"), *PROJECT.glob("scripts/moot/*/*/README.md")]
PART = re.compile(r"<!-- (\w+): python benchmarks/run\.py (\w+\.py)[\w ]* --write -->")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    return importlib.import_module("run")


def test_each_command_on_a_page_names_a_benchmark(run: ModuleType) -> None:
    names = set[str]()
    for page in PAGES:
        names |= set(re.findall(r"benchmarks/run\.py\s(\w+\.py)", page.read_text("utf-8")))
    assert len(names) >= 5
    assert [name for name in sorted(names) if not run.find_benchmark(name).is_file()] == []


def test_each_part_of_a_page_belongs_to_the_benchmark_in_its_comment(run: ModuleType) -> None:
    names: list[str] = []
    for page in PAGES:
        for name, script in PART.findall(page.read_text("utf-8")):
            part = runpy.run_path(str(run.find_benchmark(script)))["PART"]
            assert (part.name, PROJECT / part.page) == (name, page)
            assert part.read()[:1] == "|", "a table"
            names.append(name)
    assert len(names) == len(set(names)) >= 4
