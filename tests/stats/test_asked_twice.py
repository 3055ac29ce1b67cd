"""Test the effect of a change on answers in excess of the change between repeats."""

import numpy as np
import pandas as pd
import pytest

from moot.stats.asked_twice import Change, changes, differ, distance

LIKELY = 0.71
"""The probability of an answer: two answers differ in 2 * 0.71 * 0.29 = 41 % of cases."""


def answers(random: np.random.Generator, likely: "list[float]", repeats: int) -> "pd.Series[str]":
    """Draw answers of a case for each probability of "yes"."""
    index = pd.MultiIndex.from_product(
        [[f"c{case}" for case in range(len(likely))], range(repeats)]
    )
    is_yes = random.random(len(index)) < np.repeat(likely, repeats)
    return pd.Series(np.where(is_yes, "yes", "no"), index=index)


def compared(first: "pd.Series[str]", second: "pd.Series[str]") -> Change:
    return changes(first, second, differ, {case: case for case in first.index.get_level_values(0)})


def test_intervals_without_an_effect_cover_zero_as_often_as_they_should() -> None:
    random, covered = np.random.default_rng(5), 0
    for _ in range(100):
        change = compared(answers(random, [LIKELY] * 100, 3), answers(random, [LIKELY] * 100, 3))
        covered += change.low <= 0 <= change.high
    assert 0.93 <= covered / 100 <= 0.99


def test_an_effect_is_found_above_the_noise() -> None:
    random = np.random.default_rng(6)
    change = compared(answers(random, [0.9] * 200, 4), answers(random, [0.4] * 200, 4))
    assert change.excess == pytest.approx((0.9 - 0.4) ** 2, abs=0.05) and change.low > 0


def test_one_answer_per_side_gives_no_estimate() -> None:
    random = np.random.default_rng(7)
    change = compared(answers(random, [LIKELY] * 100, 1), answers(random, [LIKELY] * 100, 1))
    assert 0.3 < change.changed < 0.52 and np.isnan(change.between_repeats)
    assert np.isnan([change.excess, change.low, change.high]).all() and change.cases == 100


def test_answers_of_the_same_repeat_are_not_compared() -> None:
    """Both sides agree in each repeat, as if the ledger answered both.

    The change is that between different repeats.
    """
    random = np.random.default_rng(8)
    side = answers(random, [0.5] * 300, 2)
    change = compared(side, side)
    assert change.changed == pytest.approx(
        change.between_repeats
    ) and change.changed == pytest.approx(0.5, abs=0.1)


def test_answers_of_several_judges_at_one_time_are_repeats() -> None:
    index = pd.MultiIndex.from_tuples([("a", 0), ("a", 0), ("a", 0)])
    side = pd.Series(["yes", "yes", "no"], index=index)
    assert compared(side, side).between_repeats == pytest.approx(2 / 3)


def test_repeats_of_one_side_estimate_the_change_between_repeats() -> None:
    index = pd.MultiIndex.from_tuples([("a", 0), ("a", 1), ("b", 0), ("b", 1)])
    beliefs = pd.Series([0.2, 0.4, 0.5, 0.5], index=index)
    single_answers = pd.Series([0.3, 0.9], index=pd.MultiIndex.from_tuples([("a", 0), ("b", 0)]))
    change = changes(beliefs, single_answers, distance, {"a": "a", "b": "b"})
    assert (change.between_repeats, change.changed) == (
        pytest.approx((0.2 + 0) / 2),
        pytest.approx((0.1 + 0.4) / 2),
    )
    trained = changes(
        single_answers, single_answers + 0.05, distance, {"a": "a", "b": "b"}, default_change=0.0
    )
    assert (trained.between_repeats, trained.excess) == (0.0, pytest.approx(0.05))


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_two_missing_answers_are_no_change(missing) -> None:
    values = np.array(["yes", missing, missing, "no"], dtype=object)
    assert differ(values, values).tolist() == [0, 0, 0, 0]
    assert differ(values, values[::-1]).tolist() == [1, 0, 0, 1]
    assert differ(values, np.array(["yes"] * 4, dtype=object)).tolist() == [0, 1, 1, 1]
