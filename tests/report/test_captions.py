"""Test captions of tables and figures: the docstrings of the functions that build them."""

import pytest

from moot.report import FIGURES, TABLES

VERBS_OF_DOCSTRINGS = ("Return", "Yield", "Draw", "Show", "Write", "Build", "Plot")


@pytest.mark.parametrize("registry", [TABLES, FIGURES], ids=["tables", "figures"])
def test_captions_name_what_is_shown_and_not_what_a_function_does(registry):
    captions = {name: registry[name].caption for name in registry}
    assert [name for name in captions if not captions[name].strip()] == []
    assert [name for name in captions if captions[name].startswith(VERBS_OF_DOCSTRINGS)] == []
