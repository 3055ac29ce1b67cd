"""A paired difference that may be analysed after every case.

Its test and its interval are valid whenever the debates stop.

A player bets a fixed share r of the stake on each cluster of cases that the difference is above (or
below) a supposed value. If the supposed value is true, the stake grows only by chance: it ever
reaches 2 / alpha with a probability of at most alpha / 2 (Ville's inequality). Let S be the sum of
the differences in a cluster of n cases, N the maximum number of cases in a cluster, and [low, high]
the bounds of a case's difference. The stakes against m are

    above(m) = mean over r of prod(1 + r (S - m n) / ((m - low) N))
    below(m) = mean over r of prod(1 + r (m n - S) / ((high - m) N))

(Waudby-Smith and Ramdas 2024, JRSS B 86, section 4: capital processes with constant bets, and their
two-sided hedge). The interval contains all m against which no stake has reached 2 / alpha. The bets
do not depend on a plan, and the stakes do not depend on the order.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from moot.stats.arrays import Floats
from moot.stats.statistic import Bounds

DIFFERENCE_SHOWN, SMALLER = "difference shown", "smaller than matters"
FUTILE, OPEN = "futile", "open"
BETS = np.geomspace(0.05, 0.95, 12)
LEVEL = 0.05
FUTILITY_SHARE, FUTILITY_FACTOR = 0.5, 2.0
_STEPS = 40


@dataclass(frozen=True)
class PairedDifferences:
    """Paired differences between both sides of a contrast, of the cases debated so far.

    Attributes:
        sums: of the differences of each cluster's cases, shape (clusters,).
        sizes: the number of cases of each cluster, shape (clusters,).
        largest: the maximum number of cases in a planned cluster, known before the debates.
        bounds: the smallest and the largest possible difference of a case.
    """

    sums: Floats
    sizes: Floats
    largest: float
    bounds: Bounds

    def stake_above(self, supposed: float, times: float = 1.0) -> float:
        """Return the logarithm of the stake that bets on a difference above a supposed one.

        `times` repeats the observed differences so often.
        """
        return self._stake(self.sums - supposed * self.sizes, supposed - self.bounds[0], times)

    def stake_below(self, supposed: float, times: float = 1.0) -> float:
        """Return the same as `stake_above`, for a bet on a difference below."""
        return self._stake(supposed * self.sizes - self.sums, self.bounds[1] - supposed, times)

    def _stake(self, gains: Floats, distance: float, times: float) -> float:
        if distance <= 0 or not len(gains):
            return 0.0
        log_stakes = times * np.log1p(BETS[:, None] * (gains / (distance * self.largest))).sum(
            axis=1
        )
        return float(np.logaddexp.reduce(log_stakes) - np.log(len(BETS)))

    def p(self) -> float:
        """Return the two-sided p of no difference, valid at any stopping time."""
        return float(min(1.0, 2 * np.exp(-max(self.stake_above(0.0), self.stake_below(0.0)))))

    def equivalence(self, margin: float) -> float:
        """Return the p of a difference beyond a margin, above or below, valid at any stopping
        time.
        """
        return float(
            min(1.0, 2 * np.exp(-min(self.stake_above(-margin), self.stake_below(margin))))
        )

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the lowest and highest difference that are not rejected at a level.

        The interval is valid at any stopping time. Without cases it is the bounds.
        """
        threshold, (lowest, highest) = np.log(2 / level), self.bounds
        low = _bisect(lowest, highest, lambda difference: self.stake_above(difference) >= threshold)
        high = _bisect(
            highest, lowest, lambda difference: self.stake_below(difference) >= threshold
        )
        return low, high

    def verdict(
        self, matters: float, level: float = LEVEL, share: float = 1.0, futility: bool = True
    ) -> str:
        """Return whether to stop, and why: `DIFFERENCE_SHOWN`, `SMALLER`, `FUTILE`, or `OPEN` to go
        on.

        Args:
            matters: the smallest difference that matters.
            level: of both decisions together.
            share: of the planned cases that has been debated.
            futility: whether, from half of the plan on, to stop where even twice the whole plan
                would decide nothing if it came out like the cases so far. It never raises the
                error.
        """
        decision = self._decide(matters, level, 1.0)
        if decision != OPEN or not futility or not FUTILITY_SHARE <= share < 1:
            return decision
        would_decide = self._decide(matters, level, FUTILITY_FACTOR / share) != OPEN
        return OPEN if would_decide else FUTILE

    def _decide(self, matters: float, level: float, times: float) -> str:
        threshold = np.log(2 / level)
        if max(self.stake_above(0.0, times), self.stake_below(0.0, times)) >= threshold:
            return DIFFERENCE_SHOWN
        if min(self.stake_above(-matters, times), self.stake_below(matters, times)) >= threshold:
            return SMALLER
        return OPEN


def _bisect(rejected: float, accepted: float, rejects: Callable[[float], bool]) -> float:
    """Return the end of the rejected differences, between one that is rejected and one that
    is not.
    """
    for _ in range(_STEPS):
        middle = (rejected + accepted) / 2
        if rejects(middle):
            rejected = middle
        else:
            accepted = middle
    return rejected
