"""Test prediction-powered estimates against ppi-python, and the coverage of their intervals."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from moot.stats.arrays import Floats
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.prediction_powered import corrected_mean, corrected_ratio, estimate_share
from moot.stats.statistic import share_statistic

SIZES = {"few labels": (60, 600), "many labels": (400, 2000)}
# Output of ppi-python 0.2.3 for `rows`: lambda (None: tuned), then the estimate and both ends of
# the 95 % interval.
PPI_PYTHON = {
    "few labels": {
        1.0: (0.4133333333, 0.2738299783, 0.5528366884),
        0.5: (0.4233333333, 0.3074133577, 0.5392533089),
        None: (0.4254584947, 0.3104468631, 0.5404701263),
    },
    "many labels": {
        1.0: (0.4285, 0.3797094384, 0.4772905616),
        0.5: (0.43675, 0.3953406423, 0.4781593577),
        None: (0.4366633656, 0.3952525783, 0.4780741529),
    },
}


def rows(labelled: int, unlabelled: int) -> tuple[Floats, Floats, Floats]:
    """Draw labels with misses and false alarms, and human labels of the first rows."""
    draw = np.random.default_rng(labelled)
    truth = (draw.random(labelled + unlabelled) < 0.4).astype(float)
    predicted = np.where(draw.random(len(truth)) < np.where(truth == 1, 0.3, 0.1), 1 - truth, truth)
    inclusion = np.where(np.arange(len(truth)) < labelled, labelled / len(truth), np.nan)
    return predicted, truth, inclusion


@pytest.mark.parametrize("trust", [1.0, 0.5, None])
@pytest.mark.parametrize("size", SIZES)
def test_estimates_without_clusters_equal_those_of_ppi_python(
    size: str, trust: float | None
) -> None:
    """Lambda differs by a factor of (n + N) / N. Tuned estimates agree within a hundredth of the
    standard error.
    """
    labelled, unlabelled = SIZES[size]
    predicted, truth, sample = rows(labelled, unlabelled)
    statistic = corrected_mean(
        predicted, truth, sample, trust and trust * (labelled + unlabelled) / unlabelled
    )
    bootstrap = ClusterBootstrap(range(len(truth)), seed=1, resamples=4000)
    theirs, low, high = PPI_PYTHON[size][trust]
    assert bootstrap.value(statistic) == pytest.approx(
        theirs, abs=1e-9 if trust else 0.01 * (high - low) / 4
    )
    ours = estimate_share(bootstrap, statistic, predicted != truth)
    assert ours[2] - ours[1] == pytest.approx(high - low, rel=0.05)
    assert ours[1:] == pytest.approx((low, high), abs=0.05 * (high - low))


def test_the_recorded_figures_equal_the_output_of_ppi_python() -> None:
    ppi_py = pytest.importorskip(
        "ppi_py", reason="ppi-python is not installed: pip install ppi-python"
    )
    for size, (labelled, unlabelled) in SIZES.items():
        predicted, truth, _ = rows(labelled, unlabelled)
        for trust, recorded in PPI_PYTHON[size].items():
            arguments = (truth[:labelled], predicted[:labelled], predicted[labelled:])
            value = float(np.squeeze(ppi_py.ppi_mean_pointestimate(*arguments, lam=trust)))
            low, high = ppi_py.ppi_mean_ci(*arguments, alpha=0.05, lam=trust)
            assert (value, low.item(), high.item()) == pytest.approx(recorded, abs=1e-9)


def test_unequal_probabilities_are_weighted_like_in_ppi_python() -> None:
    """The estimate is the labeler's mean plus the weighted mean of the human corrections."""
    predicted, truth, sample = rows(60, 600)
    inclusion = np.where(~np.isnan(sample), np.where(predicted == 1, 0.2, 0.05), np.nan)
    weights = 1 / inclusion[:60]
    expected_mean = predicted.mean() + np.average((truth - predicted)[:60], weights=weights)
    statistic = corrected_mean(predicted, truth, inclusion, trust=1.0)
    assert ClusterBootstrap(range(660), 1, 10).value(statistic) == pytest.approx(expected_mean)


def test_full_samples_and_perfect_labelers_give_the_true_share() -> None:
    predicted, truth, _ = rows(60, 600)
    bootstrap = ClusterBootstrap(range(660), seed=1)
    everything = np.ones(660)
    assert bootstrap.value(corrected_mean(predicted, truth, everything)) == pytest.approx(
        truth.mean()
    )
    unsampled = np.zeros(660, dtype=bool)
    small_sample = np.where(np.arange(660) < 20, 20 / 660, np.nan)
    value, low, high = estimate_share(
        bootstrap, corrected_mean(truth, truth, small_sample), unsampled
    )
    assert value == pytest.approx(truth.mean())
    assert (
        high - low
        > 0.1
        > bootstrap.interval(share_statistic(truth))[1]
        - bootstrap.interval(share_statistic(truth))[0]
    )
    estimate = estimate_share(
        bootstrap, corrected_mean(truth, truth, np.full(660, np.nan)), unsampled
    )
    assert np.isnan(estimate).all()


def test_a_corrected_share_stays_between_zero_and_one() -> None:
    """The rules label nothing in the sampled rows, and more elsewhere than is possible."""
    predicted = np.r_[np.ones(10), np.zeros(90)]
    value, low, high = estimate_share(
        ClusterBootstrap(range(100), 1),
        corrected_mean(
            predicted, np.zeros(100), np.where(np.arange(100) < 20, 0.2, np.nan), trust=1.0
        ),
        predicted != 0,
    )
    assert (value, low) == (0, 0) and 0.1 < high < 1


class World(NamedTuple):
    """Labels of judges in two rounds, shape (judges, 2), with case and inclusion by judge."""

    case: NDArray[np.int64]
    predicted: Floats
    truth: Floats
    inclusion: Floats


def world(seed: int, cases: int = 40, panel: int = 6, share: float = 0.15) -> World:
    """Draw statements, of which half affirm, and few judges change.

    The labeler misses positions, more often in some cases. Judges with a detected change are
    sampled more often.
    """
    draw = np.random.default_rng(seed)
    judges = cases * panel
    is_positive = draw.random(judges) < np.repeat(draw.beta(2, 2, cases), panel)
    truth = np.stack([is_positive, is_positive ^ (draw.random(judges) < 0.08)], axis=1).astype(
        float
    )
    error_rate = (
        np.where(truth == 1, 0.3, 0.05) * np.repeat(0.5 + draw.random(cases), panel)[:, None]
    )
    predicted = np.where(draw.random((judges, 2)) < error_rate, 1 - truth, truth)
    sizes = np.where((predicted[:, 0] != predicted[:, 1]) | (draw.random(judges) < 0.2), 0.5, 0.3)
    rank = draw.random(judges) / sizes
    order = np.argsort(rank)
    sampled = order[: int(share * judges)]
    inclusion = np.full(judges, np.nan)
    inclusion[sampled] = np.minimum(1, sizes[sampled] * rank[order[len(sampled)]])
    return World(np.repeat(np.arange(cases), panel), predicted, truth, inclusion)


def holds(measure: str, seed: int, true_share: float) -> tuple[bool, bool]:
    """Return whether the corrected interval and the interval of mixed labels contain the truth."""
    draws = world(seed)
    case, sample = draws.case, draws.inclusion
    if measure == "share":
        predicted, truth = draws.predicted.ravel(), draws.truth.ravel()
        case, sample = np.repeat(case, 2), np.repeat(draws.inclusion, 2)
        statistic = corrected_mean(predicted, truth, sample)
    else:
        predicted = (draws.predicted[:, 0] != draws.predicted[:, 1]).astype(float)
        truth = (draws.truth[:, 0] != draws.truth[:, 1]).astype(float)
        denominators = np.ones_like(truth)
        statistic = corrected_ratio((predicted, denominators), (truth, denominators), sample)
    bootstrap = ClusterBootstrap(case, seed, resamples=300)
    _, low, high = estimate_share(bootstrap, statistic, predicted != truth)
    mixed_low, mixed_high = bootstrap.interval(
        share_statistic(np.where(~np.isnan(sample), truth, predicted))
    )
    return low <= true_share <= high, mixed_low <= true_share <= mixed_high


@pytest.mark.parametrize(("measure", "true_share"), [("share", 0.5), ("changes", 0.08)])
def test_corrected_intervals_cover_and_those_of_mixed_labels_do_not(
    measure: str, true_share: float
) -> None:
    """Draw 200 samples of 40 cases with six judges each, 15 % of them labelled by people."""
    corrected, mixed = np.mean([holds(measure, seed, true_share) for seed in range(200)], axis=0)
    assert 0.92 <= corrected <= 0.98, corrected
    assert mixed < 0.5, mixed
