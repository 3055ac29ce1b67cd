"""Estimates of how one change of a debate affects the probability of its verdict.

The unchanged and the changed debate are judged several times; the effect is the difference of the
means, with the interval of `compare_unpaired`. Of yes-or-no answers the test is Fisher's (1935)
exact one, which keeps the small levels of Holm's correction over all turns of a debate: by Agresti
and Caffo's, a debate of 26 turns named one by chance in up to 9 of 100. An answer from
log-probabilities has no sampling error: its effect is exact and has no interval or test.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from moot.stats.arrays import as_numbers
from moot.stats.differences import Difference, Sums, compare_unpaired
from moot.stats.intervals import LEVEL
from moot.stats.paired import holm
from moot.stats.statistic import SHARE

Values = Sequence[float]
NAN = float("nan")


def estimate_effect(unchanged: Values, changed: Values, *, exact: bool) -> Difference:
    """Return the effect of a change, the mean probability of the verdict without less that with it,
    from the probability in each answer; an exact effect has no interval and no p.
    """
    if not exact:
        return _sampled_effect(tuple(sorted(unchanged)), tuple(sorted(changed)))
    first, second = float(np.mean(unchanged)), float(np.mean(changed))
    return Difference(first, second, first - second, NAN, NAN, NAN, len(unchanged), len(unchanged))


@cache
def _sampled_effect(unchanged: tuple[float, ...], changed: tuple[float, ...]) -> Difference:
    clusters = range(len(unchanged)), range(len(unchanged), len(unchanged) + len(changed))
    comparison = compare_unpaired(_sums(unchanged), _sums(changed), *clusters, SHARE)
    if not {*unchanged, *changed} <= {0, 1}:
        return comparison
    from scipy.stats import fisher_exact  # registries are read at every start of Snakemake

    counts = np.array([[values.count(1), values.count(0)] for values in (unchanged, changed)])
    return replace(comparison, p=float(fisher_exact(counts)[1]))


def _sums(values: Values) -> Sums:
    column = as_numbers(values)[:, None]
    return Sums(column, np.ones_like(column))


def noise_floor(unchanged: Values, times: int, *, exact: bool) -> float:
    """Return the distance within which a mean of some answers lies from the mean of all answers.

    It holds in 95 of 100 cases.

    All answers are about the unchanged debate. If they all agree, half an answer is added for each
    outcome (Jeffreys' prior), so that a difference by chance does not seem impossible.

    Args:
        unchanged: The verdict's probability in each answer about the unchanged debate.
        times: The number of answers about a changed debate.
        exact: Whether the answers are log-probabilities.
    """
    values = as_numbers(unchanged)
    if exact:
        return float(np.ptp(values))
    from scipy.special import stdtrit  # registries are read at every start of Snakemake

    count = len(values)
    is_binary = bool(np.isin(values, (0, 1)).all())
    if is_binary:
        share = (values.sum() + 0.5) / (count + 1)
        variance = float(share * (1 - share))
    else:
        variance = float(values.var(ddof=1))
    quantile = float(stdtrit(max(1, count - 1), (1 + LEVEL) / 2))
    return min(1.0, quantile * float(np.sqrt(variance * (1 / count + 1 / max(1, times)))))


def moved_verdict(
    effects: Sequence[Difference], floors: Sequence[float], smallest: float
) -> list[bool]:
    """Return for each change of a debate whether it moved the judge.

    A moving effect is beyond its floor, at least `min_effect`, and significant after Holm's
    correction.
    """
    corrected = holm([effect.p for effect in effects])
    moved = []
    for effect, floor, p in zip(effects, floors, corrected, strict=True):
        is_large = abs(effect.difference) > floor and abs(effect.difference) >= smallest
        moved.append(is_large and not p >= 1 - LEVEL)  # an exact effect has no p
    return moved
