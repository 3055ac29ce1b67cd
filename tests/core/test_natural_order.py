"""Names with numbers are in the order of the numbers: D1, D2, ..., D10."""

import random
from itertools import product

import pytest

from moot.core.natural_order import natural_key


@pytest.mark.parametrize(
    "names",
    [
        [f"D{number}" for number in range(1, 121)],
        [f"case_{pair[0]:02}_run_{pair[1]}" for pair in product(range(1, 12), repeat=2)],
        ["q", "q1", "q1#0", "q1#2", "q1#10", "q2#0"],
        ["ex01-2", "ex01-10", "ex2-1", "Ex10-1"],
        ["第2号", "第10号", "第11号"],
        ["x²", "x²1", "²"],
        ["a" + "9" * 40, "a1" + "0" * 40],
    ],
)
def test_numbers_in_names_count_as_numbers(names: list[str]) -> None:
    shuffled = random.Random(3).sample(names, len(names))
    assert sorted(shuffled, key=natural_key) == names


def test_names_that_differ_in_zeros_and_case_have_one_order() -> None:
    names = ["a01", "A1", "a1", "a001"]
    orders = {
        tuple(sorted(random.Random(seed).sample(names, 4), key=natural_key)) for seed in range(9)
    }
    assert len(orders) == 1
