"""Each command of a page that runs a benchmark names one, here or among an analysis' tests."""

import importlib
import re
from types import ModuleType

import pytest

from project_copy import PROJECT


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    return importlib.import_module("run")


def test_each_command_on_a_page_names_a_benchmark(run: ModuleType) -> None:
    pages = [*PROJECT.glob("docs/*.md"), *PROJECT.glob("scripts/moot/*/*/README.md")]
    names = set[str]()
    for page in pages:
        names |= set(re.findall(r"benchmarks/run\.py\s(\w+\.py)", page.read_text("utf-8")))
    assert len(names) >= 5
    assert [name for name in sorted(names) if not run.find_benchmark(name).is_file()] == []


def test_benchmarks_of_analyses_are_found_by_their_name(run: ModuleType) -> None:
    benchmarks = list(run.analyses_benchmarks())
    assert any(arguments for _, arguments in benchmarks)
    for path, _ in benchmarks:
        assert run.find_benchmark(path.name) == path
    assert run.find_benchmark("coverage_grid.py").parent == PROJECT / "benchmarks"
