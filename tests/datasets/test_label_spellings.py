"""Test which labels are taken for misspellings of each other."""

import pytest

from moot.datasets.label_spellings import (
    are_spelt_alike,
    count_typing_errors,
    describe_doubtful_labels,
)

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


@pytest.mark.parametrize(
    ("first", "second", "errors"),
    [("", "", 0), ("ab", "", 2), ("ab", "ba", 1), ("abc", "acb", 1), ("kitten", "sitting", 3)],
)
def test_typing_errors_are_counted(first: str, second: str, errors: int) -> None:
    assert count_typing_errors(first, second) == count_typing_errors(second, first) == errors


def test_the_label_of_fewer_rows_is_the_doubtful_one() -> None:
    [message] = describe_doubtful_labels({"tennant": [12], "tenant": [1, 2, 3], "owner": [4, 5]})
    assert message.startswith("label 'tennant' (row 12) is spelt nearly like 'tenant' (3 rows)")
    assert describe_doubtful_labels({"tenant": [1, 2], "owner": [4, 5]}) == []


def test_many_labels_of_one_row_take_one_message() -> None:
    [message] = describe_doubtful_labels({f"label {number}": [number] for number in range(1, 31)})
    assert "'label 1' (row 1)" in message and "and 20 more" in message
