"""Prediction-powered estimates: people's labels of a sample correct a labeler's labels of all
rows.

The mean of people's labels of all rows is estimated by the labeler's mean over all rows, corrected
by the difference between people and labeler on the sample: Angelopoulos et al. 2023,
"Prediction-powered inference" (Science 382; Algorithm 1 for means). The weight of the labeler,
from 0 (only people's labels count) to 1, is tuned for the smallest variance: Angelopoulos, Duchi
and Zrnic 2023, "PPI++" (arXiv 2311.01453), the section on power tuning. Rows of the sample count by
the inverse of the probability with which they were drawn, as in Zrnic and Candès 2024, "Active
statistical inference" (arXiv 2403.03208), here over the sum of these weights (Hájek): equal
probabilities give the papers' plain means.

In both papers the rows with people's labels and the rows without are separate; here the sample is a
part of all rows. The estimates are equal: the trust t here is the papers' lambda times (n + N) / N,
for n rows in the sample and N others.
"""

import numpy as np
from numpy.typing import ArrayLike

from moot.stats.arrays import Floats, as_numbers, ratio
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.bootstrap_interval import estimate_interval
from moot.stats.score_intervals import LEVEL
from moot.stats.statistic import ANY, SHARE, Statistic

_NO_VARIANCE = 1e-12


def corrected_mean(
    predicted: ArrayLike, observed: ArrayLike, inclusion: Floats, trust: float | None = None
) -> Statistic:
    """Return the mean of people's labels of all rows, as a function of row weights.

    Args:
        predicted: the labeler's value of each row.
        observed: people's value of each row; it counts in the sample alone.
        inclusion: the probability with which each row was drawn into people's sample; NaN for a row
            that was not drawn.
        trust: the weight of the labeler, the papers' lambda. None tunes it in each resample: the
            slope of people's values on the labeler's over the sample, limited to 0 to 1. If the
            labeler gives the whole sample the same value, there is no slope and the trust is 1.
    """
    all_values, is_drawn = as_numbers(predicted), ~np.isnan(inclusion)
    people_values, labeler_values = as_numbers(observed)[is_drawn], all_values[is_drawn]
    moments = (
        np.stack(
            [
                np.ones_like(people_values),
                people_values,
                labeler_values,
                people_values * labeler_values,
                labeler_values**2,
            ],
            axis=1,
        )
        / inclusion[is_drawn, None]
    )

    def mean(weights: Floats) -> Floats:
        count, of_people, of_labeler, product, square = (weights[:, is_drawn] @ moments).T
        people, labeler = ratio(of_people, count), ratio(of_labeler, count)
        slope = _slope(
            ratio(product, count) - people * labeler, ratio(square, count) - labeler**2, trust
        )
        return people + slope * (ratio(weights @ all_values, weights.sum(axis=1)) - labeler)

    return Statistic(mean, SHARE, is_drawn)


def _slope(covariance: Floats, variance: Floats, trust: float | None) -> Floats:
    if trust is not None:
        return np.full_like(variance, trust)
    tuned = ratio(covariance, np.where(variance > _NO_VARIANCE, variance, 0.0), where_zero=1.0)
    return np.clip(tuned, 0.0, 1.0)


def corrected_ratio(
    predicted: tuple[ArrayLike, ArrayLike], observed: tuple[ArrayLike, ArrayLike], inclusion: Floats
) -> Statistic:
    """Return one corrected mean over another.

    Examples are changes over chances to change, and positions for over positions taken.

    Args:
        predicted: the labeler's values of each row, in the numerator and in the denominator.
        observed: people's values, in the same order.
        inclusion: as in `corrected_mean`.
    """
    top, bottom = (
        corrected_mean(*values, inclusion) for values in zip(predicted, observed, strict=True)
    )

    def share(weights: Floats) -> Floats:
        denominator = bottom(weights)
        return np.where(denominator > _NO_VARIANCE, ratio(top(weights), denominator), np.nan)

    return Statistic(share, SHARE, ~np.isnan(inclusion))


def estimate_share(
    bootstrap: ClusterBootstrap, statistic: Statistic, deviates: ArrayLike
) -> tuple[float, float, float]:
    """Return a corrected share and its interval by cluster, by the bootstrap of all intervals.

    A correction may leave the range from 0 to 1. Then the nearest share replaces it, and the
    interval keeps its lengths but is cut off at the range. If people never deviate from the
    labeler, resamples cannot show how often they would deviate elsewhere. The interval is then
    widened by the share of clusters that may deviate unseen among the rows that were not drawn
    (Clopper and Pearson 1934, as for any share without spread).

    Args:
        bootstrap: over the clusters of all rows.
        statistic: of `corrected_mean` or `corrected_ratio`.
        deviates: which rows of the sample people and the labeler label differently, shape (rows,).

    Returns:
        Value, lower and upper end; NaN if the sample has fewer than two clusters.
    """
    is_drawn = statistic.rows if statistic.rows is not None else np.ones(bootstrap.rows, dtype=bool)
    clusters, value = bootstrap.clusters_among(is_drawn), bootstrap.value(statistic)
    bounds = SHARE if SHARE[0] <= value <= SHARE[1] else ANY
    low, high = estimate_interval(value, bootstrap.draws(statistic), clusters, bounds)
    lower_reach, upper_reach = value - low, high - value
    value = float(np.clip(value, *SHARE))
    if is_drawn.any() and not np.asarray(deviates, dtype=bool)[is_drawn].any():
        unseen = (1 - ((1 - LEVEL) / 2) ** (1 / clusters)) * (1 - is_drawn.mean())
        lower_reach, upper_reach = (
            np.hypot(lower_reach, unseen * value),
            np.hypot(upper_reach, unseen * (1 - value)),
        )
    low, high = np.clip([value - lower_reach, value + upper_reach], *SHARE)
    return value, float(low), float(high)
