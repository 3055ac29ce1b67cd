"""The examples in docstrings hold."""

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
def test_an_example_gives_what_its_docstring_says(path: Path) -> None:
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    found = doctest.testmod(import_module(name))
    assert found.attempted and not found.failed
