"""What one change of a debate does to the probability of its verdict, beside what asking again
does.

The unchanged debate is judged some times and the changed one some times; the effect is the
difference of both means. Its interval is Newcombe's and its test Fisher's exact one where answers
are yes or no (`moot.stats.differences`), and Holm's correction is over all changes of one debate's
turns, removed and replaced ones together. An answer that is read off log-probabilities alone has no
sampling error: its effect is exact, and has neither interval nor test.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from moot.stats.bootstrap import LEVEL, SHARE, as_numbers
from moot.stats.differences import Sums, compare_unpaired
from moot.stats.paired import holm

Values = Sequence[float]
NOTHING = float("nan")


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change does.

    Attributes:
        before, after: the mean probability of the verdict without and with the change.
        effect, low, high: before less after, with its 95 % interval; NaN ends where it is exact.
        p: that there is no effect; NaN where it is exact.
    """

    unchanged_mean: float
    changed_mean: float
    effect: float
    low: float
    high: float
    p: float


def estimate_effect(unchanged: Values, changed: Values, *, exact: bool) -> Effect:
    """The effect of a change, from the verdict's probability in each answer."""
    unchanged_mean, changed_mean = float(np.mean(unchanged)), float(np.mean(changed))
    if exact:
        return Effect(
            unchanged_mean, changed_mean, unchanged_mean - changed_mean, NOTHING, NOTHING, NOTHING
        )
    return _sampled_effect(tuple(sorted(unchanged)), tuple(sorted(changed)))


@cache
def _sampled_effect(unchanged: Values, changed: Values) -> Effect:
    sides = (as_numbers(side)[:, None] for side in (unchanged, changed))
    first, second = (Sums(side, np.ones_like(side)) for side in sides)
    clusters = range(len(unchanged)), range(len(unchanged), len(unchanged) + len(changed))
    comparison = compare_unpaired(first, second, *clusters, 0, SHARE)
    return Effect(
        comparison.first,
        comparison.second,
        comparison.difference,
        comparison.low,
        comparison.high,
        comparison.p,
    )


def noise_floor(unchanged: Values, times: int, *, exact: bool) -> float:
    """How far the mean of so many answers about the unchanged debate lies from that of all, in 95
    of 100 cases.

        Where all answers are alike, half an answer each way keeps chance from looking impossible
        (Jeffreys' prior).
    """
    values = as_numbers(unchanged)
    if exact:
        return float(np.ptp(values))
    from scipy.special import stdtrit  # registries are read at every start of Snakemake

    count = len(values)
    share = (values.sum() + 0.5) / (count + 1)
    is_binary = bool(np.isin(values, (0, 1)).all())
    variance = share * (1 - share) if is_binary else float(values.var(ddof=1))
    quantile = float(stdtrit(max(1, count - 1), (1 + LEVEL) / 2))
    return min(1.0, quantile * float(np.sqrt(variance * (1 / count + 1 / max(1, times)))))


def moved_verdict(
    effects: Sequence[Effect], floors: Sequence[float], smallest: float
) -> list[bool]:
    """Of the changes of one debate those that moved its judge: beyond their floor, the smallest
    change that counts, and chance, with Holm's correction.
    """
    corrected = holm([effect.p for effect in effects])
    return [
        abs(effect.effect) > floor and abs(effect.effect) >= smallest and not p >= 1 - LEVEL
        for effect, floor, p in zip(effects, floors, corrected, strict=True)
    ]
