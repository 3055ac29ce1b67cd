"""Test metrics against scikit-learn, krippendorff and worked examples, with fixed labels."""

from dataclasses import replace

import krippendorff
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn import metrics

from moot.stats.agreement import cohens_kappa, krippendorffs_alpha
from moot.stats.calibration import (
    auc_statistic,
    calibration_error,
    calibration_error_by_chance,
    confidence_bins,
)
from moot.stats.classification import (
    ClassificationOutcome,
    averages,
    confusion,
    kappa,
    matthews,
    measure,
    occurring_labels,
    statistics_with_interval,
    weighted_sums,
)
from moot.stats.intervals import wilson_interval
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import SHARE, Statistic

LABELS = ("con", "neutral", "pro")


def one_hot(values: "list[str]") -> "np.ndarray":
    return (np.array(values)[:, None] == np.array(LABELS)).astype(float)


@given(
    st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=30)
)
def test_metrics_agree_with_scikit_learn(pairs):
    truth, answers = zip(*pairs, strict=True)
    actual, assigned = one_hot(truth), one_hot(answers)
    sums = weighted_sums(actual, assigned, np.ones((1, len(pairs))))
    ours = averages(sums, LABELS, occurring_labels(actual, assigned), positive=2)
    names = ("precision", "recall", "f1")
    for average in ("macro", "weighted", "micro"):
        theirs = metrics.precision_recall_fscore_support(
            truth, answers, average=average, zero_division=0
        )[:3]
        assert [ours[name, average, ""][0] for name in names] == pytest.approx(theirs)
    theirs = metrics.precision_recall_fscore_support(
        truth, answers, labels=["pro"], average=None, zero_division=0
    )[:3]
    assert [ours[name, "binary", ""][0] for name in names] == pytest.approx(np.ravel(theirs))
    assert matthews(sums)[0] == pytest.approx(metrics.matthews_corrcoef(truth, answers))
    if len(set(truth) | set(answers)) > 1:
        assert kappa(sums)[0] == pytest.approx(metrics.cohen_kappa_score(truth, answers))


def test_the_correlation_of_constant_labels_is_0_despite_rounding() -> None:
    """The sum of three labels of weight 0.1 is beyond 0.3."""
    labels = np.array([[1.0, 0.0]])
    sums = weighted_sums(labels, labels, np.array([[0.3]]))
    with np.errstate(all="raise"):
        assert matthews(replace(sums, true=sums.true + 1e-16))[0] == 0
        assert matthews(replace(sums, true=sums.true - 1e-16, predicted=sums.true + 1e-16))[0] == 0


@given(st.integers(0, 2**32 - 1))
def test_metrics_of_a_resample_agree_with_scikit_learn_for_fixed_labels(seed):
    random = np.random.default_rng(seed)
    truth, answers = random.choice(LABELS, (2, 15), p=[0.5, 0.4, 0.1])
    rows = random.integers(15, size=15)
    actual, assigned = one_hot(list(truth)), one_hot(list(answers))
    occurs = occurring_labels(actual, assigned)
    weights = np.bincount(rows, minlength=15)[None, :].astype(float)
    ours = averages(weighted_sums(actual, assigned, weights), LABELS, occurs)["f1", "macro", ""][0]
    fixed = [label for label, is_present in zip(LABELS, occurs, strict=True) if is_present]
    theirs = metrics.f1_score(
        truth[rows], answers[rows], labels=fixed, average="macro", zero_division=0
    )
    assert ours == pytest.approx(theirs)


def test_a_random_guess_has_its_expected_score():
    truth = one_hot(["pro"] * 3 + ["con"])
    shares = truth.mean(axis=0)
    outcome = ClassificationOutcome(truth, np.tile(shares, (4, 1)), None, "decision", None)
    scores = measure(outcome)
    assert scores["accuracy"] == pytest.approx(0.75**2 + 0.25**2)
    assert scores["kappa"] == pytest.approx(0)
    assert np.isnan([scores["auc"], scores["brier"]]).all(), "a decision has no probability"


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=40))
def test_auc_agrees_with_scikit_learn_with_and_without_ties(pairs):
    truth, score = np.array(pairs, dtype=float).T
    ours = auc_statistic(truth, score)(np.ones((1, len(pairs))))[0]
    if len(set(truth)) == 1:
        assert np.isnan(ours)
    else:
        assert ours == pytest.approx(metrics.roc_auc_score(truth, score))


def test_auc_of_three_labels_agrees_with_scikit_learn() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        actual, predicted = random.integers(3, size=(2, 40))
        scores = random.dirichlet(np.ones(3), 40).round(1)
        truth = np.eye(3)[actual]
        outcome = ClassificationOutcome(truth, np.eye(3)[predicted], scores, "probability", None)
        values = measure(outcome)
        expected = metrics.roc_auc_score(truth, scores, average="weighted")
        assert values["auc"] == pytest.approx(expected)
        assert np.isnan(values["f1_binary"])
        assert values["brier"] == pytest.approx(((scores - truth) ** 2).sum(axis=1).mean())
        of_two = replace(outcome, truth=truth[:, :2], scores=scores[:, :2], positive=1)
        values = measure(replace(of_two, assigned=outcome.assigned[:, :2]))
        assert values["auc"] == pytest.approx(metrics.roc_auc_score(truth[:, 1], scores[:, 1]))
        assert values["brier"] == pytest.approx(((scores - truth)[:, 1] ** 2).mean())
        counts = metrics.confusion_matrix(actual, predicted, labels=range(3))
        assert confusion(outcome).tolist() == counts.tolist()


def test_a_resampled_row_is_weighted_by_its_number_of_draws():
    truth, score, weights = (
        np.array([1.0, 0, 1, 0]),
        np.array([0.9, 0.4, 0.3, 0.2]),
        np.array([[2.0, 1, 0, 3]]),
    )
    assert auc_statistic(truth, score)(weights)[0] == metrics.roc_auc_score(
        truth, score, sample_weight=weights[0]
    )


def value(statistic: Statistic, rows: int) -> float:
    return float(statistic(np.ones((1, rows)))[0])


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("abc")), min_size=2, max_size=30))
def test_kappa_of_two_raters_agrees_with_scikit_learn(pairs):
    first, second = map(list, zip(*pairs, strict=True))
    ours = value(cohens_kappa(first, second), len(pairs))
    if len({*first, *second}) == 1:
        assert np.isnan(ours), "agreement by chance is certain"
    else:
        assert ours == pytest.approx(metrics.cohen_kappa_score(first, second))


@given(st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", None])] * 3), min_size=3, max_size=20))
@example([(None, None, None)] * 3)
def test_alpha_agrees_with_krippendorff_for_missing_and_resampled_ratings(rows):
    ratings = np.array(rows, dtype=object)
    weights = np.ones((1, len(rows)))
    weights[0, 0] = 3
    resampled = np.concatenate([ratings[[0, 0]], ratings])
    codes = {"a": 0.0, "b": 1.0, "c": 2.0, None: np.nan}
    coded = np.vectorize(codes.get, otypes=[float])(resampled)
    ours = krippendorffs_alpha(ratings)(weights)[0]
    pairable = coded[(~np.isnan(coded)).sum(axis=1) > 1]
    if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        assert np.isnan(ours)
    else:
        theirs = krippendorff.alpha(reliability_data=coded.T, level_of_measurement="nominal")
        assert ours == pytest.approx(theirs)


def test_the_bounds_of_f1_apply_even_with_one_label():
    only = ClassificationOutcome(one_hot(["pro"] * 4), one_hot(["pro"] * 4), None, "decision", None)
    statistic = statistics_with_interval(only)["f1_macro"]
    assert statistic.bounds == SHARE
    assert ClusterJackknife(range(4)).estimate(statistic) == pytest.approx(wilson_interval(1, 4))


# Constant raters, missing labels and scores


@pytest.mark.parametrize("is_first_constant", [True, False])
def test_kappa_of_a_constant_rater_is_0_without_interval(is_first_constant):
    raters = [["a"] * 15, [*"abc"] * 5]
    statistic = cohens_kappa(*(raters if is_first_constant else raters[::-1]))
    estimate = ClusterJackknife(range(15)).estimate(statistic)
    assert estimate[0] == 0 and np.isnan(estimate[1:]).all()


@pytest.mark.parametrize("measure", ["kappa", "alpha"])
def test_agreement_on_one_label_alone_has_no_interval(measure):
    """Raters who never agree on another one do not show how their agreement varies."""

    def interval(first, second):
        ratings = np.array([[*first], [*second]], dtype=object).T
        is_kappa = measure == "kappa"
        statistic = cohens_kappa(*ratings.T) if is_kappa else krippendorffs_alpha(ratings)
        return ClusterJackknife(range(len(first))).interval(statistic)

    low, high = interval("aab" * 10, "abb" * 10)
    assert low < high
    assert np.isnan(interval("aab" * 10, "aba" * 10)).all()


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_an_item_without_a_label_is_left_out_of_kappa(missing):
    rated = value(cohens_kappa(["a", "b", "a"], ["a", "b", "b"]), 3)
    with_missing = cohens_kappa(["a", "b", missing, "a", "b"], ["a", "b", "b", "b", missing])
    assert value(with_missing, 5) == pytest.approx(rated) == pytest.approx(0.4)


@pytest.mark.parametrize("labels", [[None] * 30, [], [float("nan")] * 5])
def test_kappa_without_labels_is_undefined(labels):
    jackknife = ClusterJackknife(range(len(labels)))
    assert np.isnan(jackknife.estimate(cohens_kappa(labels, labels))).all()


def test_auc_of_a_constant_score_has_no_interval():
    statistic = auc_statistic(np.array([0.0, 1.0] * 8), np.full(16, 0.7))
    estimate = ClusterJackknife(range(16)).estimate(statistic)
    assert estimate[0] == 0.5 and np.isnan(estimate[1:]).all()


@pytest.mark.parametrize("missing", [1, 29, 60])
def test_auc_leaves_out_rows_without_a_score(missing):
    truth, score = np.tile([1.0, 0.0], 30), np.tile([0.8, 0.3, 0.2, 0.6], 15)
    full = auc_statistic(truth[missing:], score[missing:])(np.ones((1, 60 - missing)))
    score[:missing] = float("nan")
    assert auc_statistic(truth, score)(np.ones((1, 60))) == pytest.approx(full, nan_ok=True)


@pytest.mark.parametrize("share", [-0.1, 1.2, float("nan")])
def test_calibration_error_of_a_confidence_that_is_no_share_is_undefined(share):
    confidence = np.array([0.5] * 29 + [share])
    assert np.isnan(calibration_error(confidence, np.ones(30)))
    assert np.isnan(calibration_error(np.empty(0), np.empty(0)))


def test_a_confidence_at_the_edge_of_two_bins_is_in_the_upper_one():
    confidence = np.array([0.0, 1 - 0.9, 0.6, 0.3 + 0.3, 0.69, 1.0])
    assert confidence_bins(confidence).argmax(axis=1).tolist() == [0, 1, 6, 6, 6, 9]


def test_calibrated_answers_have_an_error_by_chance() -> None:
    """Four answers of 50 % are right 0 to 4 times: the mean distance from two is 3/4."""
    assert calibration_error_by_chance(np.full(4, 0.5), seed=1) == pytest.approx(3 / 16, abs=0.02)
    assert calibration_error_by_chance(np.array([0.0, 1.0]), seed=1) == 0
    for confidence in (np.array([]), np.array([0.5, np.nan])):
        assert np.isnan(calibration_error_by_chance(confidence, seed=1))
