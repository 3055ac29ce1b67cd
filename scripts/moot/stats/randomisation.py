"""Exact and randomisation tests of differences.

Each test asks how often chance alone makes equal systems differ as much as these do.
"""

import numpy as np

from moot.stats.arrays import Floats, as_numbers

LEVEL = 0.05  # of a test
EXACT_CLUSTERS = 14  # maximum of clusters for which all 2^14 patterns of signs are counted
PATTERNS = 9999
_MAX_SIGNS_IN_MEMORY = 2**23  # 64 MB
_ROUNDING = 1e-9
_DIGITS = 9
_LARGE = 1e100


def mcnemar_exact(first_alone: int, second_alone: int) -> float:
    """Return the two-sided exact McNemar p, or 1 without cases.

    The arguments are the numbers of cases that one system alone got right.
    """
    from scipy.stats import binomtest  # registries are read at every start of Snakemake

    discordant = first_alone + second_alone
    return float(binomtest(first_alone, discordant).pvalue) if discordant else 1.0


def fisher_p(first_right: int, first_wrong: int, second_right: int, second_wrong: int) -> float:
    """Return the two-sided p of Fisher's exact test."""
    from scipy.stats import fisher_exact  # registries are read at every start of Snakemake

    table = np.array([[first_right, first_wrong], [second_right, second_wrong]])
    return float(fisher_exact(table).pvalue)


def sign_flip_p(differences: Floats, seed: int) -> float:
    """Return the two-sided p-value of a randomisation test.

    Between equal systems, each difference has either sign with equal probability.

    The test is exact for up to `EXACT_CLUSTERS` differences other than 0. Otherwise it uses
    `PATTERNS` random patterns of signs and counts the observed one as well (Phipson and Smyth
    2010). If all differences are 1 or -1, it is McNemar's exact test. Each difference belongs to an
    independent unit: a case, or the sum over a cluster of cases. p is NaN if a difference is
    missing or infinite.
    """
    # registries are read at every start of Snakemake
    from scipy.stats import monte_carlo_test, permutation_test

    if not np.isfinite(differences).all():
        return float("nan")
    moved = differences[np.abs(differences) > _ROUNDING]
    if not len(moved):
        return 1.0
    if np.abs(moved).max() > _LARGE:  # sums of such numbers overflow
        moved = moved / np.abs(moved).max()
    sizes = np.abs(moved)
    if len(moved) == 1 or (np.abs(sizes - sizes[0]) <= _ROUNDING).all():
        return mcnemar_exact(int((moved > 0).sum()), int((moved < 0).sum()))
    if len(moved) <= EXACT_CLUSTERS:
        test = permutation_test(
            (moved,),
            _sum,
            permutation_type="samples",
            vectorized=True,
            n_resamples=2**EXACT_CLUSTERS,
        )
        return min(1.0, float(test.pvalue))
    random = np.random.default_rng(seed)

    def draw(size: tuple[int, ...]) -> Floats:
        return as_numbers(random.choice([-1.0, 1.0], size=size) * sizes)

    drawn_test = monte_carlo_test(
        moved,
        draw,
        _sum,
        vectorized=True,
        n_resamples=PATTERNS,
        batch=max(1, _MAX_SIGNS_IN_MEMORY // len(moved)),
    )
    return min(1.0, float(drawn_test.pvalue))


def _sum(values: Floats, axis: int) -> Floats:
    """Return the sums, rounded so that equal ones are tied."""
    return as_numbers(values.sum(axis=axis)).round(_DIGITS)
