"""Worked examples of textbooks and papers: a row has the source, moot's number and the printed one.

The printed numbers were written down from memory, without the sources at hand: check a number and
its place before you cite it. A tolerance is half of the last printed digit, or larger where a test
is drawn at random.
"""

from collections.abc import Sequence

import numpy as np
import pytest

from moot.stats.agreement import cohens_kappa, krippendorffs_alpha
from moot.stats.bootstrap_interval import unanimous_interval
from moot.stats.calibration import auc_statistic
from moot.stats.paired import holm
from moot.stats.power import Spread
from moot.stats.randomisation import fisher_p, mcnemar_exact, sign_flip_p
from moot.stats.replication import difference_interval
from moot.stats.score_intervals import tango_interval, wilson_interval
from moot.stats.statistic import SHARE
from textbook_examples import Example

NEWCOMBE_PAIRS = "Newcombe 1998, Statistics in Medicine 17, 873-890, table II, method 10"
NEWCOMBE_SINGLE = "Newcombe 1998, Statistics in Medicine 17, 857-872, table I"
KRIPPENDORFF = "Krippendorff 2011, Computing Krippendorff's alpha-reliability"
AGRESTI = "Agresti 2002, Categorical Data Analysis"
COHEN = "Cohen 1988, Statistical Power Analysis, table 2.4.1"


def newcombe(first: tuple[int, int], second: tuple[int, int]) -> tuple[float, float]:
    """The interval of a difference of two shares."""
    sides = [
        wilson_interval(correct_counts / cases, cases) for correct_counts, cases in (first, second)
    ]
    return difference_interval(*sides)


def wilson(correct_count: int, cases: int) -> tuple[float, float]:
    """The interval of a share."""
    interval = wilson_interval(correct_count / cases, cases)
    return interval.low, interval.high


def kappa_of_table(table: list[list[int]]) -> float:
    """Cohen's kappa of a table of counts."""
    cells = np.array(table)
    first, second = (part.ravel() for part in np.indices(cells.shape))
    raters = np.repeat(first, cells.ravel()), np.repeat(second, cells.ravel())
    return float(cohens_kappa(*raters)(np.ones((1, cells.sum())))[0])


def alpha(raters: list[str]) -> float:
    """Krippendorff's alpha; a dot is a missing label."""
    ratings = np.array([list(rater) for rater in raters], dtype=object).T
    ratings[ratings == "."] = None
    return float(krippendorffs_alpha(ratings)(np.ones((1, len(ratings))))[0])


def auc_of_ratings(normal: Sequence[int], abnormal: Sequence[int]) -> float:
    """The area under the curve of counts of ratings."""
    counts = np.array([*normal, *abnormal])
    truth = np.repeat([0.0] * len(normal) + [1.0] * len(abnormal), counts)
    scores = np.repeat([*range(len(normal)), *range(len(abnormal))], counts).astype(float)
    return float(auc_statistic(truth, scores)(np.ones((1, counts.sum())))[0])


def power_of_means(effect: float, cases: int) -> float:
    """The power of the t test of two samples with a variance of 1."""
    spread = Spread(0.0, (1.0, 1.0), (float("nan"), float("nan")))
    return spread.power(effect, (float(cases), float(cases)), (1, 1), 0.05)


FOUR_OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], dtype=float)
EXAMPLES = [
    Example(NEWCOMBE_PAIRS, "a", lambda: newcombe((56, 70), (48, 80)), (0.0524, 0.3339)),
    Example(NEWCOMBE_PAIRS, "b", lambda: newcombe((9, 10), (3, 10)), (0.1705, 0.8090)),
    Example(NEWCOMBE_PAIRS, "c", lambda: newcombe((6, 7), (2, 7)), (0.0582, 0.8062)),
    Example(NEWCOMBE_PAIRS, "d", lambda: newcombe((5, 56), (0, 29)), (-0.0381, 0.1926)),
    Example(NEWCOMBE_PAIRS, "e", lambda: newcombe((0, 10), (0, 20)), (-0.1611, 0.2775)),
    Example(NEWCOMBE_PAIRS, "f", lambda: newcombe((0, 10), (0, 10)), (-0.2775, 0.2775)),
    Example(NEWCOMBE_PAIRS, "g", lambda: newcombe((10, 10), (0, 20)), (0.6791, 1.0)),
    Example(NEWCOMBE_PAIRS, "h", lambda: newcombe((10, 10), (0, 10)), (0.6075, 1.0)),
    Example(NEWCOMBE_SINGLE, "81 of 263", lambda: wilson(81, 263), (0.2553, 0.3662)),
    Example(NEWCOMBE_SINGLE, "15 of 148", lambda: wilson(15, 148), (0.0624, 0.1605)),
    Example(NEWCOMBE_SINGLE, "0 of 20", lambda: wilson(0, 20), (0.0, 0.1611)),
    Example(NEWCOMBE_SINGLE, "1 of 29", lambda: wilson(1, 29), (0.0061, 0.1718)),
    Example(
        NEWCOMBE_SINGLE,
        "0 of 20, Clopper and Pearson",
        lambda: unanimous_interval(0.0, 20, SHARE, 0.95),
        (0.0, 0.1684),
    ),
    Example(
        f"{AGRESTI}, section 10.1",
        "ratings of a prime minister, score interval",
        lambda: tango_interval(86, 150, 1600),
        (-0.06, -0.02),
        5e-3,
    ),
    Example(
        "Binomial table of 6 trials", "McNemar, 1 against 5", lambda: mcnemar_exact(1, 5), 0.21875
    ),
    Example(
        "Fisher 1935, The Design of Experiments, section 21",
        "Darwin's maize, 1726 of 32768 sign patterns",
        lambda: sign_flip_p(DARWIN, 0),
        1726 / 32768,
        7e-3,
    ),
    Example(f"{AGRESTI}, section 3.5", "tea tasting", lambda: fisher_p(3, 1, 1, 3), 0.486, 5e-4),
    Example(
        "Fisher 1935, Journal of the Royal Statistical Society 98, as fisher.test of R",
        "convictions of twins",
        lambda: fisher_p(2, 15, 10, 3),
        0.0005367,
        5e-8,
    ),
    Example(KRIPPENDORFF, "B", lambda: alpha(["0100000010", "1110010000"]), 0.095, 5e-4),
    Example(KRIPPENDORFF, "C", lambda: alpha(["aabbdcccedda", "babbbccceddd"]), 0.692, 5e-4),
    Example(KRIPPENDORFF, "D", lambda: alpha(FOUR_OBSERVERS), 0.743, 5e-4),
    Example(
        "Fleiss, Levin and Paik 2003, Statistical Methods for Rates and Proportions, table 18.1",
        "kappa",
        lambda: kappa_of_table([[75, 1, 4], [5, 4, 1], [0, 0, 10]]),
        0.68,
        5e-3,
    ),
    Example(
        "Feinstein and Cicchetti 1990, Journal of Clinical Epidemiology 43, table 2",
        "kappa, balanced",
        lambda: kappa_of_table([[40, 9], [6, 45]]),
        0.70,
        5e-3,
    ),
    Example(
        "Feinstein and Cicchetti 1990, Journal of Clinical Epidemiology 43, table 3",
        "kappa, unbalanced",
        lambda: kappa_of_table([[80, 10], [5, 5]]),
        0.32,
        5e-3,
    ),
    Example(
        "Holm 1979, Scandinavian Journal of Statistics 6, by hand",
        "four p",
        lambda: holm([0.01, 0.04, 0.03, 0.005]),
        (0.03, 0.06, 0.06, 0.02),
    ),
    Example(
        "Hanley and McNeil 1982, Radiology 143, table I",
        "tomograms",
        lambda: auc_of_ratings((33, 6, 6, 11, 2), (3, 2, 2, 11, 33)),
        0.893,
        5e-4,
    ),
    Example(COHEN, "d .2", lambda: power_of_means(0.2, 393), 0.80, 5e-3),
    Example(COHEN, "d .5", lambda: power_of_means(0.5, 64), 0.80, 5e-3),
    Example(COHEN, "d .8", lambda: power_of_means(0.8, 26), 0.80, 1e-2),
]


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=lambda example: f"{example.source}: {example.name}"
)
def test_a_published_example_gives_the_printed_value(example: Example) -> None:
    assert example.compute() == pytest.approx(example.printed, abs=example.tolerance)
