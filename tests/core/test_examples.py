"""Run the examples in docstrings."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import moot

PACKAGE = Path(moot.__file__).parent
WITH_EXAMPLES = sorted(
    path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.stem)
def test_an_example_gives_the_result_in_its_docstring(path: Path) -> None:
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    results = doctest.testmod(import_module(name))
    assert results.attempted and not results.failed
