"""Amounts for people: none is printed as 0 unless it is 0."""

from itertools import product

import pytest

from moot.core.amount_text import amount_text, dollars_text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0, 0, "0"),
        (0.0, 1, "0.0"),
        (1e-12, 0, "less than 1"),
        (0.5, 0, "less than 1"),
        (0.04, 1, "less than 0.1"),
        (0.004, 2, "less than 0.01"),
        (0.00004, 4, "less than 0.0001"),
        (0.014, 2, "0.01"),
        (0.1 + 0.2, 1, "0.3"),
        (99.991, 2, "99.99"),
        (1234.56, 1, "1,234.6"),
        (1e9, 0, "1,000,000,000"),
    ],
)
def test_amounts(value: float, digits: int, text: str) -> None:
    assert amount_text(value, digits) == text


@pytest.mark.parametrize("digits", [0, 1, 2, 4])
def test_only_nothing_is_printed_as_nothing(digits: int) -> None:
    for first, exponent in product((1, 4.9, 5.1, 9.99), range(-9, 10)):
        text = amount_text(first * 10.0**exponent, digits)
        assert text.startswith("less than ") or float(text.replace(",", "")) > 0
        assert float(text.removeprefix("less than ").replace(",", "")) > 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "$0.00"),
        (1e-9, "less than $0.0001"),
        (0.0003, "$0.0003"),
        (0.0099, "$0.0099"),
        (0.01, "$0.01"),
        (1.005e6, "$1,005,000.00"),
    ],
)
def test_dollars_have_four_decimals_below_a_cent(value: float, text: str) -> None:
    assert dollars_text(value, "$") == text
