"""Intervals and tests of one value or difference, each by one published method.

| of | method |
|---|---|
| a share of independent cases | Wilson 1927, JASA 22 |
| F1 of independent cases | Wilson's of F* (3) |
| a value between two bounds, by cluster | Student's t of the log odds (1) |
| a difference of shares of the same cases | Tango 1998, Statistics in Medicine 17 |
| a value that all clusters share | Wilson's upper end of 0 in n clusters (2) |
| a difference of two samples | MOVER: Zou and Donner 2008, Statistics in Medicine 27 |
| a mean cost | log-normal: Zou, Huo and Taleban 2009, Environmetrics 20 |
| a difference, an amount | Student's t |

(1) Korn and Graubard 1998, Survey Methodology 24; the standard error is the jackknife's of the log
odds themselves, or by the delta method for a coefficient of agreement, and if a value without a
cluster lies at a bound. Of a coefficient from -1 to 1 these are Fisher's z.
(2) If none of n clusters departs from a value, at most a share u of all clusters does (as in the
rule of three: Hanley and Lippman-Hand 1983, JAMA 249), and a mean moves by at most u of the way to
a bound. For a share of 0 or 1 this is Wilson's interval, for a difference of 0 Tango's.
(3) F* is the share of hits among the cases that have the label or are given it (Hand, Christen and
Kirielle 2021, Machine Learning 110), and F1 has twice its odds, so that the ends of Wilson's
interval of F* give those of F1: the indirect interval of Lam, Gopal and Qian 2023, "Confidence
intervals for the F1 score: A comparison of four methods".
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from moot.stats.arrays import Floats, as_numbers
from moot.stats.statistic import ANY, Bounds

LEVEL, TEST_LEVEL = 0.95, 0.05
NOTHING = (float("nan"), float("nan"))
_ROUNDING = 1e-9
_MAX_LOGARITHM = 700.0
_MAX_QUANTILE = 7.0  # of p = 3e-12; a level that is closer to 1 has no exact number


class Interval(NamedTuple):
    """A value with the ends of its interval; the ends are NaN without an interval."""

    value: float
    low: float
    high: float


class Method(Protocol):
    """A test of supposed values, with the interval of those that it does not reject."""

    @property
    def freedom(self) -> float:
        """The degrees of freedom of t; infinite for a normal distribution."""

    def distance(self, supposed: float) -> float:
        """Return how many standard errors the estimate lies above a supposed value."""

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the interval."""


@dataclass(frozen=True, slots=True)
class Student:
    """Student's t test of a centre with a standard error; without spread it has no interval."""

    centre: float
    error: float
    freedom: float
    bounds: Bounds = ANY

    def distance(self, supposed: float) -> float:
        """Return how many standard errors the centre lies above a supposed value."""
        return (self.centre - supposed) / self.error if self.error > 0 else float("nan")

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the interval, within the bounds."""
        from scipy.special import stdtrit  # registries are read at every start of Snakemake

        if not self.error > 0 or not self.freedom > 0:
            return NOTHING
        half = float(stdtrit(self.freedom, (1 + level) / 2)) * self.error
        low, high = self.bounds
        return max(low, self.centre - half), min(high, self.centre + half)


@dataclass(frozen=True, slots=True)
class Tango:
    """The score test of a difference between two shares of the same independent cases.

    Attributes:
        first_alone, second_alone: cases that one side alone gets right. They may be fractions if
            clusters have an effective number.
        pairs: all cases.

    >>> [round(end, 3) for end in Tango(1, 0, 30).interval()]
    [-0.084, 0.167]
    """

    first_alone: float
    second_alone: float
    pairs: float
    freedom = np.inf

    def distance(self, supposed: float) -> float:
        """Return the standardised distance of the estimate from a supposed difference."""
        pairs, surplus = self.pairs, self.first_alone - self.second_alone
        linear = (2 * pairs - surplus) * supposed - self.first_alone - self.second_alone
        constant = -self.second_alone * supposed * (1 - supposed)
        root = np.sqrt(max(linear**2 - 8 * pairs * constant, 0.0))
        second_alone_share = (root - linear) / (4 * pairs)
        variance = pairs * (2 * second_alone_share + supposed * (1 - supposed))
        away = surplus - pairs * supposed
        if abs(away) < _ROUNDING:
            return 0.0
        return float(away / np.sqrt(variance)) if variance > 0 else float(np.copysign(1e9, away))

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the interval."""
        from scipy.optimize import brentq
        from scipy.special import ndtri

        if not self.pairs > 0:
            return NOTHING
        quantile = float(ndtri((1 + level) / 2))
        estimate = (self.first_alone - self.second_alone) / self.pairs
        low, high = -1.0, 1.0
        if estimate > -1:
            low = brentq(lambda supposed: self.distance(supposed) - quantile, -1.0, estimate)
        if estimate < 1:
            high = brentq(lambda supposed: self.distance(supposed) + quantile, estimate, 1.0)
        return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Wilson:
    """The score test of a share of independent cases, less a threshold."""

    share: float
    cases: float
    threshold: float
    freedom = np.inf

    def distance(self, supposed: float) -> float:
        """Return how many standard errors the share lies above a supposed one."""
        expected = min(max(self.threshold + supposed, 0.0), 1.0)
        error = (expected * (1 - expected) / self.cases) ** 0.5
        away = self.share - expected
        return away / error if error else float(np.copysign(np.inf, away)) if away else 0.0

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the interval."""
        _, low, high = wilson_interval(self.share, self.cases, level)
        return low - self.threshold, high - self.threshold


@dataclass(frozen=True, slots=True)
class SharedValue:
    """The test of a mean whose clusters all have the same value, within two bounds.

    >>> [round(end, 3) for end in SharedValue(0.0, 30, (-1.0, 1.0)).interval()]
    [-0.114, 0.114]
    """

    value: float
    clusters: float
    bounds: Bounds
    freedom = np.inf

    def distance(self, supposed: float) -> float:
        """Return how many standard errors the value lies above a supposed one."""
        away = self.value - supposed
        reach = self.value - self.bounds[0] if away > 0 else self.bounds[1] - self.value
        departing = abs(away) / reach if reach else float(away != 0)
        if departing >= 1:
            return float(np.copysign(np.inf, away))
        return float(np.copysign((self.clusters * departing / (1 - departing)) ** 0.5, away))

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the interval."""
        departing, (low, high) = wilson_interval(0.0, self.clusters, level).high, self.bounds
        return (
            self.value - departing * (self.value - low),
            self.value + departing * (high - self.value),
        )


@dataclass(frozen=True, slots=True)
class LogOdds:
    """Student's t test of the log odds of a value between two bounds less a threshold.

    `error` is the standard error of the log odds.
    """

    value: float
    error: float
    freedom: float
    bounds: Bounds
    threshold: float = 0.0

    def distance(self, supposed: float) -> float:
        """Return how many standard errors the value lies above a supposed one."""
        low, high = self.bounds
        expected = min(max(self.threshold + supposed, low), high)
        return self._student().distance(float(log_odds(expected, self.bounds)))

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the interval."""
        from scipy.special import expit  # registries are read at every start of Snakemake

        low, high = self.bounds
        ends = low + (high - low) * expit(self._student().interval(level)) - self.threshold
        return float(ends[0]), float(ends[1])

    def _student(self) -> Student:
        return Student(float(log_odds(self.value, self.bounds)), self.error, self.freedom)


@dataclass(frozen=True, slots=True)
class MultipliedOdds:
    """The test of a value less a threshold; the value has the odds of a share, times a factor."""

    of_share: Method
    odds: float
    threshold: float = 0.0

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the share's t."""
        return self.of_share.freedom

    def distance(self, supposed: float) -> float:
        """Return how many standard errors the value lies above a supposed one."""
        expected = min(max(self.threshold + supposed, 0.0), 1.0)
        return self.of_share.distance(float(divide_odds(expected, self.odds)))

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the interval."""
        low, high = divide_odds(self.of_share.interval(level), 1 / self.odds) - self.threshold
        return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Mover:
    """The difference of two independent values, from their own methods (MOVER).

    Source: Zou and Donner 2008. Of two shares by Wilson's interval this is method 10 of Newcombe
    1998.
    """

    values: tuple[float, float]
    methods: tuple[Method, Method]
    freedom = np.inf

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the interval."""
        first, second = (
            Interval(value, *method.interval(level))
            for value, method in zip(self.values, self.methods, strict=True)
        )
        return difference_interval(first, second)

    def distance(self, supposed: float) -> float:
        """Return the normal quantile of the level whose interval ends at a supposed difference."""
        from scipy.optimize import brentq
        from scipy.special import ndtr

        away = self.values[0] - self.values[1] - supposed
        if abs(away) < _ROUNDING:
            return 0.0
        if np.isnan(self.interval()).any():
            return float("nan")

        def excess(quantile: float) -> float:
            ends = self.interval(2 * float(ndtr(quantile)) - 1)
            return (ends[0] if away > 0 else ends[1]) - supposed

        is_beyond = excess(_MAX_QUANTILE) * away > 0
        quantile = _MAX_QUANTILE if is_beyond else brentq(excess, 0.0, _MAX_QUANTILE)
        return float(np.copysign(quantile, away))


def difference_interval(first: Interval, second: Interval) -> tuple[float, float]:
    """Return the interval of first minus second, from two samples.

    Squared errors add up (Newcombe 1998, method 10).
    """
    value = first.value - second.value
    lower_reach = np.hypot(first.value - first.low, second.high - second.value)
    upper_reach = np.hypot(first.high - first.value, second.value - second.low)
    return float(value - lower_reach), float(value + upper_reach)


def log_odds(values: ArrayLike, bounds: Bounds) -> Floats:
    """Return the log odds of values between two bounds; infinite at a bound."""
    from scipy.special import logit  # registries are read at every start of Snakemake

    low, high = bounds
    return as_numbers(logit((as_numbers(values) - low) / (high - low)))


def divide_odds(shares: ArrayLike, factor: float) -> Floats:
    """Divide the odds of shares by a factor; return the shares that have these odds."""
    array = as_numbers(shares)
    return as_numbers(array / (factor - (factor - 1) * array))


def log_odds_error(value: float, error: float, bounds: Bounds) -> float:
    """Return the standard error of a value's log odds by the delta method."""
    low, high = bounds
    return error * (high - low) / ((value - low) * (high - value))


def p_value(method: Method) -> float:
    """Return the two-sided p of the value 0; 1 if nothing can be computed."""
    from scipy.special import stdtr  # registries are read at every start of Snakemake

    distance = method.distance(0.0)
    if np.isnan(distance) or not method.freedom > 0:
        return 1.0
    return 2 * float(stdtr(method.freedom, -abs(distance)))


def p_equivalence(method: Method, margin: float) -> float:
    """Return the p of two one-sided tests that the value lies beyond a margin.

    It is 1 if nothing can be computed. Source: Schuirmann 1987, Journal of Pharmacokinetics and
    Biopharmaceutics 15.
    """
    from scipy.special import stdtr  # registries are read at every start of Snakemake

    nearest = min(method.distance(-margin), -method.distance(margin))
    return float(stdtr(method.freedom, -nearest)) if not np.isnan(nearest) else 1.0


def wilson_interval(share: float, n: float, level: float = LEVEL) -> Interval:
    """Return a share of n answers with its interval; NaN if n is 0, or if it is not a share.

    The interval is Wilson's (1927, "Probable inference", JASA 22).

    >>> [round(end, 3) for end in wilson_interval(0.9, 200)]
    [0.9, 0.851, 0.934]
    """
    # statsmodels' `proportion_confint` gives the same ends; some 40 jobs of the default run would
    # each need more than a second to import it.
    from scipy.special import ndtri  # registries are read at every start of Snakemake

    if not n > 0 or not -_ROUNDING <= share <= 1 + _ROUNDING:
        return Interval(float("nan"), *NOTHING)
    share = min(max(share, 0.0), 1.0)
    quantile = float(ndtri((1 + level) / 2))
    squared = quantile**2 / n
    centre = (share + squared / 2) / (1 + squared)
    half = quantile * (share * (1 - share) / n + squared / (4 * n)) ** 0.5 / (1 + squared)
    return Interval(share, max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share)))


def lognormal_interval(amounts: Floats, weights: Floats) -> tuple[float, float]:
    """Return the interval of a mean of log-normal amounts, one for each cluster.

    A sample seldom has the largest amounts of a long tail, so that its standard error does not
    show how far the mean may lie above it. The variance of the logarithms does.

    It is NaN if an amount is not above 0, or if all are equal.
    """
    from scipy.special import chdtri, ndtri  # registries are read at every start of Snakemake

    amounts, weights = amounts[weights > 0], weights[weights > 0]
    if len(amounts) < 2 or not (np.isfinite(amounts) & (amounts > 0)).all():
        return NOTHING
    logs, clusters = np.log(amounts), float(weights.sum() ** 2 / (weights**2).sum())
    mean, freedom, tail = np.average(logs, weights=weights), clusters - 1, (1 - LEVEL) / 2
    variance = float(np.average((logs - mean) ** 2, weights=weights)) * clusters / freedom
    if np.ptp(logs) < _ROUNDING:
        return NOTHING
    half = float(ndtri(1 - tail)) * (variance / clusters) ** 0.5
    lower_reach = variance / 2 * (1 - freedom / float(chdtri(freedom, tail)))
    upper_reach = variance / 2 * (freedom / float(chdtri(freedom, 1 - tail)) - 1)
    centre = mean + variance / 2
    low, high = centre - np.hypot(half, lower_reach), centre + np.hypot(half, upper_reach)
    return float(np.exp(low)), float(np.exp(min(high, _MAX_LOGARITHM)))
