"""Cases in which other packages were reported to fail, each with its report."""

import numpy as np
import pytest

from moot.stats.agreement import cohens_kappa, krippendorffs_alpha
from moot.stats.calibration import auc_statistic, calibration_error
from moot.stats.classification import Sums, matthews
from moot.stats.intervals import Student, Tango, p_value, wilson_interval
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import mean_statistic, share_statistic

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize(("share", "n"), [(1.0, 38), (0.0, 77), (1.0, 1), (0.0, 1)])
def test_ends_of_a_share_lie_within_0_and_1(share: float, n: int) -> None:
    """statsmodels 7386: Wilson's end of 38 of 38 was 1.0000000000000002."""
    _, low, high = wilson_interval(share, n)
    assert 0 <= low <= share <= high <= 1


@pytest.mark.parametrize("error", [0.0, float("nan")])
def test_p_without_a_standard_error_is_1_and_not_0(error: float) -> None:
    """causalml 994: p = 0 stood beside an interval of NaN."""
    method = Student(0.4, error, 9.0)
    assert p_value(method) == 1 and np.isnan(method.interval()).all()


def test_a_single_sample_and_equal_samples_give_no_error() -> None:
    """openai/evals 1834 and unitxt 1650: the standard deviation was NaN, with warnings."""
    value, *ends = ClusterJackknife(["a"]).estimate(share_statistic([1.0]))
    assert value == 1 and np.isnan(ends).all()
    value, low, high = ClusterJackknife(range(20)).estimate(share_statistic([0.0] * 20))
    assert value == low == 0 and 0.1 < high < 0.2, "scipy 14804: equal values are no certainty"
    value, *ends = ClusterJackknife(range(20)).estimate(mean_statistic([7.0] * 20))
    assert value == 7 and np.isnan(ends).all()


@pytest.mark.parametrize(
    ("raters", "alpha"),
    [
        (["33333", "33333", "33..3", "33331", "3.333"], 0.0),  # fast-krippendorff 11
        (["ab", "ba"], -0.5),  # fast-krippendorff 27
        (["112", "11.", ".12"], 1.0),  # nltk 2865: a missing label counted as a label
        (["2222222222", "1222222222", "1111222222"], 0.072),  # oolong 96: packages differ
    ],
)
def test_alpha_of_few_disagreements_and_missing_labels(raters: list[str], alpha: float) -> None:
    ratings = np.array([list(rater) for rater in raters], dtype=object).T
    ratings[ratings == "."] = None
    assert krippendorffs_alpha(ratings)(np.ones((1, len(ratings))))[0] == pytest.approx(alpha)


def test_sides_that_never_differ_have_p_1() -> None:
    """evaluate 795: McNemar's test without discordant pairs divided by zero."""
    assert p_value(Tango(0, 0, 40)) == 1
    low, high = Tango(0, 0, 40).interval()
    assert -0.1 < low < 0 < high < 0.1


def test_auc_of_separated_scores_is_not_above_1() -> None:
    """confidenceinterval 15: 1.0000001 for 50 scores without a tie."""
    scores = np.random.default_rng(5).random(50)
    value, low, high = ClusterJackknife(range(50)).estimate(auc_statistic(scores > 0.3, scores))
    assert value == 1 and 0.8 < low < high == 1


def test_two_clusters_do_not_make_many_rows_certain() -> None:
    """fixest 438: p was 1.8e-15 with errors clustered on a column of two values."""
    values = np.random.default_rng(6).normal(0.3, 1, 200)
    two = ClusterJackknife(np.arange(200) % 2)
    value, spread = two.value_and_spread(mean_statistic(values))
    assert spread.freedom == pytest.approx(1) and p_value(Student(value, *spread)) > 0.01


@pytest.mark.parametrize(
    ("confidence", "correct", "error"),
    [
        ([0.95, 1.0], [1, 0], 0.475),  # torchmetrics 3510: 1.0 had a bin of its own
        ([0.0], [1], 1.0),  # laya 39: no bin held 0
        ([0.25, 0.25, 0.55, 0.75, 0.75], [0, 0, 1, 1, 1], 0.29),  # torchmetrics 1907
    ],
)
def test_each_confidence_is_in_one_of_ten_bins(
    confidence: list[float], correct: list[float], error: float
) -> None:
    assert calibration_error(np.array(confidence), np.array(correct)) == pytest.approx(error)


def test_counts_of_many_answers_do_not_overflow() -> None:
    """scikit-learn 8354: kappa was 5.2; smile 879: -0.60; pycm 624: 2976900914; pROC 19: 1-1."""
    random = np.random.default_rng(7)
    first, second = random.integers(0, 3, (2, 250_000))
    everything = np.ones((1, 250_000))
    assert cohens_kappa(first, second)(everything)[0] == pytest.approx(0, abs=0.01)
    scores = random.random(250_000)
    is_true = (random.random(250_000) < scores).astype(float)
    assert auc_statistic(is_true, scores)(everything)[0] == pytest.approx(5 / 6, abs=0.01)
    for table, expected in (([[50_000, 5_000], [5_000, 50_000]], 9 / 11), ([[1, 1], [1, 0]], -0.5)):
        cells = np.array(table) * 1e13
        margins = cells.sum(axis=0)[None], cells.sum(axis=1)[None]
        sums = Sums(
            np.diag(cells)[None], *margins, np.array([cells.trace()]), np.array([cells.sum()])
        )
        assert matthews(sums)[0] == pytest.approx(expected)
