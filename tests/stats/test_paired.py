"""Test paired comparisons of the means of cases."""

import numpy as np
import pandas as pd
import pytest

from moot.stats.paired import compare, compare_shares, holm, share_right
from results_on_disk import prediction


def runs(answers: "dict[str, list[str]]") -> pd.DataFrame:
    """Return predictions of cases with the label "yes", one repeat for each answer."""
    rows = []
    for case, case_answers in answers.items():
        for number, answer in enumerate(case_answers):
            rows.append(prediction(case, "yes", answer, repeat=number))
    return pd.DataFrame(rows)


def own_clusters(cases) -> "dict[str, str]":
    return {case: case for case in cases}


def test_holm_leaves_out_missing_tests():
    assert holm([0.04, 0.01, 0.03, float("nan")]) == pytest.approx(
        [0.06, 0.03, 0.06, float("nan")], nan_ok=True
    )
    assert holm([0.9, 0.8]) == [1, 1] and holm([]) == []


def test_repeats_are_compared_by_the_mean_of_each_case():
    """An evenly split case counts one half: the difference is 0.875 - 0.6875, not 8/8 - 4/8."""
    half, always_right = ["yes", "no"], ["yes", "yes"]
    first = runs(dict.fromkeys("ab", half) | dict.fromkeys("cdefgh", always_right))
    second = runs(dict.fromkeys("abcde", half) | dict.fromkeys("fgh", always_right))
    difference = compare_shares(share_right(first), share_right(second), own_clusters("abcdefgh"))
    assert (first["prediction"] == "yes").mean() == 0.875
    assert (second["prediction"] == "yes").mean() == 0.6875
    assert difference.difference == pytest.approx(0.1875)
    assert (difference.cases, difference.first_better, difference.second_better) == (8, 3, 0)
    assert difference.low < 0.1875 < difference.high


def test_only_common_cases_are_compared_and_invalid_answers_count_as_wrong():
    first = runs({"a": ["yes"], "b": ["yes"], "c": ["yes"]})
    second = runs({"a": ["yes"], "b": [""], "z": ["no"]})
    difference = compare_shares(share_right(first), share_right(second), own_clusters("abcz"))
    assert (
        difference.cases,
        difference.first_better,
        difference.second_better,
        difference.difference,
    ) == (
        2,
        1,
        0,
        0.5,
    )
    nothing = compare_shares(
        share_right(first), share_right(runs({"q": ["yes"]})), own_clusters("abcq")
    )
    assert nothing.cases == 0 and np.isnan([nothing.difference, nothing.low, nothing.p]).all()


def test_cases_of_one_cluster_are_not_counted_as_independent():
    """One motion shows nothing: one side is right on its ten claims and no better elsewhere."""
    first = np.array([1.0] * 10 + [0.0] * 9)
    second = np.zeros(19)
    assert compare(first, second, range(19)).p < 0.01
    motions = ["m"] * 10 + [*"abcdefghi"]
    difference = compare(first, second, motions)
    assert (difference.clusters, difference.cases) == (10, 19)
    assert difference.p > 0.05 and difference.low < 0


def test_one_crossed_cluster_has_a_difference_without_interval():
    for number in range(20):
        first, second = pd.Series({"c": 0.3 + number / 97}), pd.Series({"c": 0.1})
        difference = compare_shares(first, second, {"c": ("story", "judge")})
        assert difference.difference == pytest.approx(first["c"] - second["c"]) and np.isnan(
            difference.low
        )
