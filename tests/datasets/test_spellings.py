"""Test which labels are taken for misspellings of each other."""

import pytest

from moot.datasets.reading.spellings import are_spelt_alike, find_misspelt

ALIKE = [
    ("tenant", "tennant"),
    ("tenant", "tenants"),
    ("tenant", "teannt"),
    ("plaintiff", "plantiff"),
    ("defendant", "defendent"),
    ("landlord", "land lord"),
    ("in-favour", "In favour"),
    ("kläger", "klager"),
    ("yes", "Yes."),
    ("tenant wins", "tennant wins"),
    ("tenant", "tenan\u200bt"),
]
DIFFERENT = [
    ("guilty", "not guilty"),
    ("legal", "illegal"),
    ("grade 1", "grade 2"),
    ("class_1", "class_2"),
    ("option A", "option B"),
    ("type I", "type II"),
    ("male", "female"),
    ("won", "lost"),
    ("+1", "-1"),
    ("1.0", "10"),
    ("C", "C++"),
    ("支持原告", "支持被告"),
    ("constitutional", "unconstitutional"),
    ("?", "!"),
]


@pytest.mark.parametrize(("first", "second"), ALIKE)
def test_typing_errors_are_seen_in_both_orders(first: str, second: str) -> None:
    assert are_spelt_alike(first, second) and are_spelt_alike(second, first)


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_labels_that_differ_by_intent_are_not_alike(first: str, second: str) -> None:
    assert not are_spelt_alike(first, second) and not are_spelt_alike(second, first)


def test_a_misspelt_word_means_the_most_frequent_similar_one() -> None:
    rows = {"accpet": [3, 4], "ACCEPT": [12], "accept": [1, 2, 5], "reject": [6, 7]}
    assert find_misspelt(rows) == {"accpet": "accept", "ACCEPT": "accept"}
    assert find_misspelt({"tenant": [1, 2], "owner": [4, 5]}) == {}
