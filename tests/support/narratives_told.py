"""What holds for the narrative of any survey."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

GENDERED = re.compile(
    r"\b(he|she|him|his|her|hers|himself|herself|man|woman|male|female)\b", re.IGNORECASE
)


def told_and_no_other(
    narrate: Callable[[dict[str, Any], str], str],
    facts: dict[str, Any],
    form: str,
    values: Mapping[str, st.SearchStrategy[Any]],
    data: st.DataObject,
) -> str:
    """A narrative that changes with any of its facts, reads cleanly, and gives away no sex that it
    was not told.
    """
    text = narrate(facts, form)
    changed = data.draw(st.sampled_from(sorted(facts)))
    other = data.draw(values[changed].filter(lambda value: value != facts[changed]))
    assert narrate({**facts, changed: other}, form) != text
    assert not re.search(r"[{}]|[a-z,] The|None|Unknown|  | \.|\.\.|, ;|\band and\b", text)
    assert facts.get("sex") or not GENDERED.search(text)
    return text
