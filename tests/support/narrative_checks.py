"""A check that the narrative of any survey must pass."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

GENDERED = re.compile(
    r"\b(he|she|him|his|her|hers|himself|herself|man|woman|male|female)\b", re.IGNORECASE
)


def check_narrative(
    narrate: Callable[[dict[str, Any], str], str],
    facts: dict[str, Any],
    form: str,
    values: Mapping[str, st.SearchStrategy[Any]],
    data: st.DataObject,
) -> str:
    """Return the narrative of some facts after checking it.

    The narrative changes with each of its facts, reads cleanly, and reveals the sex of a person
    only if the facts state it.
    """
    text = narrate(facts, form)
    changed = data.draw(st.sampled_from(sorted(facts)))
    replacement = data.draw(values[changed].filter(lambda value: value != facts[changed]))
    assert narrate({**facts, changed: replacement}, form) != text
    assert not re.search(r"[{}]|[a-z,] The|None|Unknown|  | \.|\.\.|, ;|\band and\b", text)
    assert facts.get("sex") or not GENDERED.search(text)
    return text
