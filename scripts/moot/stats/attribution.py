"""What one change of a debate does to the probability of its verdict, beside what asking again does.

The unchanged debate is judged some times and the changed one some times; the effect is the difference of both means.
Its interval is Newcombe's and its test Fisher's exact one where answers are yes or no (`moot.stats.differences`), and
Holm's correction is over all changes of one debate's turns, removed and replaced ones together. An answer that is read
off log-probabilities alone has no sampling error: its effect is exact, and has neither interval nor test.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from moot.stats.bootstrap import LEVEL, SHARE, as_numbers
from moot.stats.differences import Sums, compare_unpaired
from moot.stats.paired import holm

Values = Sequence[float]
NOTHING = float("nan")
_NEVER = 1e-6


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change does.

    Attributes:
        before, after: the mean probability of the verdict without and with the change.
        effect, low, high: before less after, with its 95 % interval; NaN ends where it is exact.
        p: that there is no effect; NaN where it is exact.
    """

    before: float
    after: float
    effect: float
    low: float
    high: float
    p: float


def effect_of(whole: Values, changed: Values, *, exact: bool) -> Effect:
    """The effect of a change, from the verdict's probability in each answer."""
    before, after = float(np.mean(whole)), float(np.mean(changed))
    if exact:
        return Effect(before, after, before - after, NOTHING, NOTHING, NOTHING)
    return _sampled(tuple(sorted(whole)), tuple(sorted(changed)))


@cache
def _sampled(whole: Values, changed: Values) -> Effect:
    sides = (as_numbers(side)[:, None] for side in (whole, changed))
    one, other = (Sums(side, np.ones_like(side)) for side in sides)
    clusters = range(len(whole)), range(len(whole), len(whole) + len(changed))
    found = compare_unpaired(one, other, *clusters, 0, SHARE)
    return Effect(found.first, found.second, found.difference, found.low, found.high, found.p)


def floor_of(whole: Values, times: int, *, exact: bool) -> float:
    """How far the mean of so many answers about the unchanged debate lies from that of all, in 95 of 100 cases.

    Where all answers are alike, half an answer each way keeps chance from looking impossible (Jeffreys' prior).
    """
    values = as_numbers(whole)
    if exact:
        return float(np.ptp(values))
    from scipy.special import stdtrit  # registries are read at every start of Snakemake

    count = len(values)
    share = (values.sum() + 0.5) / (count + 1)
    is_binary = bool(np.isin(values, (0, 1)).all())
    variance = share * (1 - share) if is_binary else float(values.var(ddof=1))
    quantile = float(stdtrit(max(1, count - 1), (1 + LEVEL) / 2))
    return min(1.0, quantile * float(np.sqrt(variance * (1 / count + 1 / max(1, times)))))


def which_moved(effects: Sequence[Effect], floors: Sequence[float], smallest: float) -> list[bool]:
    """Of the changes of one debate those that moved its judge: beyond their floor, the smallest change that counts, and
    chance, with Holm's correction.
    """
    corrected = holm([effect.p for effect in effects])
    return [
        abs(effect.effect) > floor and abs(effect.effect) >= smallest and not p >= 1 - LEVEL
        for effect, floor, p in zip(effects, floors, corrected, strict=True)
    ]


def smallest_called(before: float, times: int, changes: int, smallest: float, power: float) -> float:
    """The smallest effect of one change of a debate that is called moved with a probability of `power`; NaN: none is.

    Exact, over all answers that may come: `times` with the change and twice as many without it, which give the
    verdict with the probability `before`. No other change has an effect, so that Holm's correction is by all `changes`.
    """
    from scipy.stats import binom  # as above

    may_come = binom.pmf(np.arange(2 * times + 1), 2 * times, before)
    called = np.zeros((2 * times + 1, times + 1))
    for given in np.flatnonzero(may_come > _NEVER).tolist():
        whole = _answers(given, 2 * times)
        floor = floor_of(whole, times, exact=False)
        for left in range(times + 1):
            effect = effect_of(whole, _answers(left, times), exact=False)
            called[given, left] = which_moved([replace(effect, p=min(1.0, changes * effect.p))], [floor], smallest)[0]
    for effect in np.arange(1, round(100 * before) + 1) / 100:
        if may_come @ called @ binom.pmf(np.arange(times + 1), times, max(0.0, before - effect)) >= power:
            return float(effect)
    return NOTHING


def _answers(given: int, times: int) -> list[float]:
    return [1.0] * given + [0.0] * (times - given)
