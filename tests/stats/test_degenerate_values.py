"""Test values that other packages were reported to fail on: constant, missing, empty, of weight 0.

The kinds come from public reports: constant samples (scipy issues 14418 and 14804), shares of
none (statsmodels 2742), confidences at a bin's end (torchmetrics 3510), one rater or one label
(fast-krippendorff 9 and 26) and one cluster (statsmodels 2136).
"""

import numpy as np
import pytest

from moot.stats.agreement import cohens_kappa, krippendorffs_alpha
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.calibration import (
    auc_statistic,
    calibration_error_by_chance,
    calibration_error_statistic,
)
from moot.stats.clusters import effective_number, kinds_of_clusters
from moot.stats.differences import Sums, compare_paired, compare_unpaired
from moot.stats.randomisation import sign_flip_p
from moot.stats.score_intervals import agresti_caffo_interval, tango_interval, wilson_interval
from moot.stats.statistic import AMOUNT, DIFFERENCE, SHARE, mean_statistic

NAN = float("nan")


def means(values) -> Sums:
    column = np.asarray(values, dtype=float)[:, None]
    return Sums(column, np.ones_like(column))


@pytest.mark.parametrize("labels", [[None], [None] * 30, [], [NAN] * 5])
def test_kappa_without_labels_is_undefined(labels):
    value, low, high = ClusterBootstrap(range(len(labels)), 0).estimate(
        cohens_kappa(labels, labels)
    )
    assert np.isnan([value, low, high]).all()


@pytest.mark.parametrize("raters", [1, 2, 5])
@pytest.mark.parametrize("label", ["a", None])
def test_alpha_of_one_label_or_one_rater_is_undefined(raters, label):
    ratings = np.full((12, raters), label, dtype=object)
    assert np.isnan(ClusterBootstrap(range(12), 0).estimate(krippendorffs_alpha(ratings))).all()


@pytest.mark.parametrize("missing", [1, 5, 29])
def test_auc_leaves_out_rows_without_a_score(missing):
    truth, score = np.tile([1.0, 0.0], 30), np.tile([0.8, 0.3, 0.2, 0.6], 15)
    full = auc_statistic(truth[missing:], score[missing:])(np.ones((1, 60 - missing)))
    score[:missing] = NAN
    assert auc_statistic(truth, score)(np.ones((1, 60))) == pytest.approx(full)


def test_auc_without_scores_is_undefined():
    statistic = auc_statistic(np.tile([1.0, 0.0], 10), np.full(20, NAN))
    assert np.isnan(ClusterBootstrap(range(20), 0).estimate(statistic)).all()


@pytest.mark.filterwarnings("error")
def test_calibration_error_with_a_missing_confidence_is_undefined():
    confidences = np.array([NAN] + [0.5] * 29)
    assert np.isnan(calibration_error_by_chance(confidences, 0))
    statistic = calibration_error_statistic(confidences, np.ones(30))
    assert np.isnan(ClusterBootstrap(range(30), 0).estimate(statistic)).all()


@pytest.mark.parametrize(("confidence", "bin_mate"), [(1.0, 0.95), (0.0, 0.05)])
def test_confidences_at_the_ends_share_a_bin_with_their_neighbours(confidence, bin_mate):
    statistic = calibration_error_statistic(np.array([confidence, bin_mate]), np.array([1.0, 0.0]))
    error = ClusterBootstrap(range(2), 0).value(statistic)
    assert error == pytest.approx(abs((confidence + bin_mate) / 2 - 0.5))


@pytest.mark.parametrize("values", [[NAN], [NAN, 1.0, 2.0], [1.0, -1.0, NAN]])
def test_a_missing_difference_makes_the_randomisation_test_undefined(values):
    assert np.isnan(sign_flip_p(np.array(values), 0))


@pytest.mark.parametrize("bounds", [SHARE, AMOUNT])
def test_a_missing_value_makes_a_difference_undefined(bounds):
    first, second = means([1, 0, NAN, 1, 1, 1, 1, 0, 1]), means([1, 0] * 5)
    unpaired = compare_unpaired(first, second, range(9), range(9, 19), 0, bounds)
    paired = compare_paired(first, means([1, 0, 1] * 3), range(9), 0, DIFFERENCE)
    for difference in (unpaired, paired):
        assert np.isnan([difference.difference, difference.low, difference.high]).all()
        assert difference.p == 1


def test_intervals_of_no_cases_are_undefined():
    assert np.isnan(wilson_interval(NAN, 0)).all()
    assert np.isnan(tango_interval(0, 0, 0)).all()
    assert np.isnan(agresti_caffo_interval(1, 2, 0, 0)).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e300])
def test_the_effective_number_does_not_depend_on_the_scale_of_weights(scale):
    assert effective_number(np.array([1.0, 1.0, 2.0, 0.0]) * scale) == pytest.approx(16 / 6)


@pytest.mark.parametrize("missing", [None, NAN])
def test_rows_without_a_cluster_are_one_cluster(missing):
    codes, _ = kinds_of_clusters(["a", missing, "b", missing])[0]
    assert (codes >= 0).all() and codes[1] == codes[3] and len(set(codes.tolist())) == 3
    both, _ = kinds_of_clusters([("a", missing), ("b", 1), ("a", missing)])[1]
    assert (both >= 0).all() and both[0] == both[2] != both[1]
    difference = compare_paired(means([1, 0] * 10), means([1] * 20), [missing] * 20, 0, DIFFERENCE)
    assert difference.clusters == 1 and np.isnan(difference.low)


@pytest.mark.parametrize("value", [0.04, 3.3, 1e6])
def test_constant_amounts_differ_by_nothing(value):
    difference = compare_unpaired(
        means([value] * 10), means([value] * 30), range(10), range(10, 40), 0, AMOUNT
    )
    assert abs(difference.difference) < 1e-9 * value and difference.p == 1
    low, high = ClusterBootstrap(range(30), 0).interval(mean_statistic([value] * 30, AMOUNT))
    assert np.isnan([low, high]).all()


def test_a_side_of_weight_0_has_no_difference():
    nothing = Sums(np.zeros((20, 1)), np.zeros((20, 1)))
    difference = compare_unpaired(nothing, means([1, 0] * 10), range(20), range(20, 40), 0, SHARE)
    assert np.isnan([difference.difference, difference.low]).all() and difference.p == 1
