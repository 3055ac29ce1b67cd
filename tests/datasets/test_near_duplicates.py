"""Test near-duplicates: leaks of training texts, and families that share a split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.datasets.near_duplicates import RelatedCases, find_leaks, group_families


@pytest.mark.parametrize("language", ["en", "zh"])
def test_leaking_finds_twins_and_shared_ids(language: str) -> None:
    text = (
        "The mill burnt on a Tuesday in May and the insurer would not pay for any of the grain that"
        " lay in it. " * 3
    )
    leaks = find_leaks(
        {"a": text + "More.", "b": "nothing of the kind", "c": "x y z"},
        {"t": text, "c": "q"},
        language,
    )
    assert leaks == {"a": "t", "c": "c"}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_families_are_closed(links: list[tuple[int, int]]) -> None:
    keys = [str(n) for n in range(10)]
    family = group_families(keys, [RelatedCases(str(a), str(b), 1.0) for a, b in links if a != b])
    assert all(family[str(a)] == family[str(b)] for a, b in links)
    assert all(family[head] == head for head in family.values())
