"""Test ratings of pairs: library fits, ties, planted strengths and biases, missing ratings."""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from moot.stats.ratings import FIRST, SECOND, TIE, fit_ratings

PROJECT = Path(__file__).resolve().parents[2]


def random_pairs(number: int, seed: int = 0) -> tuple[list[str], list[str], np.ndarray]:
    random = np.random.default_rng(seed)
    first = random.integers(0, 5, number)
    second = (first + random.integers(1, 5, number)) % 5
    outcomes = np.where(
        random.random(number) < 1 / (1 + np.exp((second - first) / 3)), SECOND, FIRST
    )
    return [f"m{debater}" for debater in first], [f"m{debater}" for debater in second], outcomes


def values_of(ratings, names):
    return [ratings.strengths[name].value for name in names]


def test_strengths_without_ties_equal_logistic_regression():
    first, second, outcomes = random_pairs(400)
    length = np.random.default_rng(1).normal(0, 1, 400)
    ratings = fit_ratings(
        first, second, outcomes, list(range(400)), {"side": np.ones(400), "length": length}
    )
    assert ratings is not None and ratings.ties == 0
    names = np.array(sorted(ratings.strengths))
    pairs = zip(first, second, strict=True)
    columns = [(names == winner) * 1.0 - (names == loser) for winner, loser in pairs]
    features = np.column_stack([np.array(columns), np.ones(400), length])
    library = LogisticRegression(C=1e6, fit_intercept=False, tol=1e-9, max_iter=2000).fit(
        features, outcomes > 0
    )
    strengths = library.coef_[0][:5] - library.coef_[0][:5].mean()
    assert values_of(ratings, names) == pytest.approx(strengths, abs=1e-3)
    assert [winner.value for winner in ratings.terms.values()] == pytest.approx(
        library.coef_[0][5:], abs=1e-3
    )


def test_the_share_of_ties_between_equals_is_recovered():
    outcomes = np.array([FIRST, SECOND, TIE] * 40)
    ratings = fit_ratings(["a"] * 120, ["b"] * 120, outcomes, list(np.arange(120) // 3))
    assert ratings is not None and ratings.ties == pytest.approx(1 / 3, abs=1e-3)
    assert ratings.strengths["a"].value == pytest.approx(0, abs=1e-6)


def test_side_effects_are_separated_from_strengths_if_sides_are_swapped():
    first, second = ["a", "b"] * 50, ["b", "a"] * 50
    always_first = np.full(100, FIRST)
    ratings = fit_ratings(
        first,
        second,
        np.where(np.arange(100) % 9 == 0, SECOND, always_first),
        list(range(50)) * 2,
        {"side": np.ones(100)},
    )
    assert ratings is not None and ratings.terms["side"].low > 1
    assert abs(ratings.strengths["a"].value) < abs(ratings.terms["side"].value) / 2


def test_copied_verdicts_on_a_topic_do_not_narrow_the_interval():
    first, second, outcomes = random_pairs(200)
    single = fit_ratings(first, second, outcomes, list(range(200)))
    thrice = fit_ratings(first * 3, second * 3, np.tile(outcomes, 3), list(range(200)) * 3)
    assert single is not None and thrice is not None
    for name, rating in single.strengths.items():
        repeated = thrice.strengths[name]
        assert (repeated.value, repeated.low, repeated.high) == pytest.approx(
            (rating.value, rating.low, rating.high), abs=2e-3
        )


def test_a_weight_counts_as_that_many_copies_of_a_pair():
    first, second, outcomes = random_pairs(60)
    weights = np.where(np.arange(60) < 20, 2.0, 1.0)
    weighted = fit_ratings(first, second, outcomes, list(range(60)), weights=weights)
    duplicated = fit_ratings(
        first[:20] + first,
        second[:20] + second,
        np.concatenate([outcomes[:20], outcomes]),
        list(range(80)),
    )
    assert weighted is not None and duplicated is not None
    for name, rating in duplicated.strengths.items():
        assert weighted.strengths[name].value == pytest.approx(rating.value, abs=2e-3)


def test_undefeated_debaters_and_few_topics_have_no_interval():
    outcomes = np.array([FIRST] * 20 + [FIRST, SECOND] * 20)
    ratings = fit_ratings(
        ["best"] * 20 + ["a"] * 40, ["a", "b"] * 10 + ["b"] * 40, outcomes, list(range(60))
    )
    assert ratings is not None and np.isnan(ratings.strengths["best"].low)
    strongest = max(ratings.strengths, key=lambda name: ratings.strengths[name].value)
    assert strongest == "best"
    assert ratings.strengths["a"].low < ratings.strengths["a"].high
    few_topics = fit_ratings(["a"] * 40, ["b"] * 40, outcomes[20:], list(np.arange(40) % 3))
    assert few_topics is not None and np.isnan(few_topics.strengths["a"].low)
    assert fit_ratings([], [], np.array([]), []) is None


def test_groups_without_a_chain_of_wins_are_not_compared():
    outcomes = np.array([FIRST, FIRST, SECOND] * 10 * 3)
    never_met = fit_ratings(
        ["a"] * 60 + ["c"] * 30, ["b"] * 30 + ["e"] * 30 + ["d"] * 30, outcomes, list(range(90))
    )
    beaten = fit_ratings(
        ["a"] * 90 + ["b"] * 20,
        ["b"] * 60 + ["e"] * 30 + ["c", "d"] * 10,
        np.concatenate([outcomes, np.full(20, FIRST)]),
        list(range(110)),
    )
    assert never_met is not None and beaten is not None
    for ratings, outside in ((never_met, "cd"), (beaten, "cd")):
        assert [name for name, rating in ratings.strengths.items() if np.isnan(rating.low)] == list(
            outside
        )
        assert sum(values_of(ratings, "abe")) == pytest.approx(0, abs=1e-9)
    separate = fit_ratings(["a"] * 90, ["b"] * 60 + ["e"] * 30, outcomes, list(range(90)))
    assert separate is not None
    expected = values_of(separate, "abe")
    assert values_of(beaten, "abe") == pytest.approx(expected, abs=0.02)
    unbeaten = fit_ratings(["a"] * 20, ["b"] * 20, np.full(20, FIRST), list(range(20)))
    assert unbeaten is not None and all(
        np.isnan(rating.low) for rating in unbeaten.strengths.values()
    )


def test_a_judge_who_always_names_one_side_has_an_unbounded_bias():
    first, second, outcomes = random_pairs(200)
    judged = np.arange(200) % 2
    ratings = fit_ratings(
        first,
        second,
        np.where(judged, FIRST, outcomes),
        list(range(200)),
        {"before one": 1.0 - judged, "before the other": 1.0 * judged},
    )
    assert (
        ratings is not None and ratings.terms["before one"].low < ratings.terms["before one"].high
    )
    assert ratings.terms["before the other"].value > 5 and np.isnan(
        ratings.terms["before the other"].low
    )
    assert not any(np.isnan(rating.low) for rating in ratings.strengths.values())


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PROJECT / "benchmarks"))
        return importlib.import_module("coverage_ratings")


def test_planted_strengths_and_biases_are_recovered(simulation):
    """The document has three tournaments with 200 worlds each."""
    tournament = simulation.TOURNAMENTS["8 debaters, 60 topics, 3 judges, half copied, ties"]
    for name, (covered, bias) in simulation.measure(tournament, 40).items():
        assert covered >= 0.85, name
        assert abs(bias) < 0.12, name
