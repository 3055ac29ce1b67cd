"""Worked examples of textbooks and papers: a row has the source, moot's number and the printed one.

The printed numbers were written down from memory, without the sources at hand: check a number and
its place before you cite it. A tolerance is half of the last printed digit.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from moot.stats.agreement import cohens_kappa, krippendorffs_alpha
from moot.stats.calibration import auc_statistic
from moot.stats.differences import Sums, compare_unpaired
from moot.stats.intervals import LogOdds, Tango, difference_interval, p_value, wilson_interval
from moot.stats.jackknife import ClusterJackknife
from moot.stats.power import Spread
from moot.stats.statistic import SHARE


class Example(NamedTuple):
    """A printed number or interval, and how moot computes it."""

    source: str
    name: str
    compute: Callable[[], float | Sequence[float]]
    printed: float | Sequence[float]
    tolerance: float = 5e-5


NEWCOMBE_PAIRS = "Newcombe 1998, Statistics in Medicine 17, 873-890, table II, method 10"
NEWCOMBE_SINGLE = "Newcombe 1998, Statistics in Medicine 17, 857-872, table I"
KRIPPENDORFF = "Krippendorff 2011, Computing Krippendorff's alpha-reliability"
AGRESTI = "Agresti 2002, Categorical Data Analysis"
FAGERLAND = "Fagerland, Lydersen and Laake 2015, Statistical Methods in Medical Research 24"
FAGERLAND_PAIRED = "Fagerland, Lydersen and Laake 2014, Statistics in Medicine 33"
COHEN = "Cohen 1988, Statistical Power Analysis, table 2.4.1"


def newcombe(first: tuple[int, int], second: tuple[int, int]) -> tuple[float, float]:
    """The interval of a difference of two shares."""
    sides = [
        wilson_interval(correct_counts / cases, cases) for correct_counts, cases in (first, second)
    ]
    return difference_interval(*sides)


def agresti_caffo(first: tuple[int, int], second: tuple[int, int]) -> tuple[float, float]:
    """The interval of a difference of two shares of different cases."""
    sides = []
    for right, cases in (first, second):
        column = np.array([[1.0]] * right + [[0.0]] * (cases - right))
        sides.append(Sums(column, np.ones_like(column)))
    clusters = range(first[1]), range(first[1], first[1] + second[1])
    difference = compare_unpaired(*sides, *clusters, SHARE)
    return difference.low, difference.high


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
    spread = Spread((1.0, 1.0))
    return spread.power(effect, (float(cases), float(cases)), (1, 1), 0.05)


FOUR_OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
EXAMPLES = [
    Example(NEWCOMBE_PAIRS, "a", lambda: newcombe((56, 70), (48, 80)), (0.0524, 0.3339)),
    Example(NEWCOMBE_PAIRS, "d", lambda: newcombe((5, 56), (0, 29)), (-0.0381, 0.1926)),
    Example(NEWCOMBE_PAIRS, "e", lambda: newcombe((0, 10), (0, 20)), (-0.1611, 0.2775)),
    Example(NEWCOMBE_PAIRS, "h", lambda: newcombe((10, 10), (0, 10)), (0.6075, 1.0)),
    Example(NEWCOMBE_SINGLE, "81 of 263", lambda: wilson(81, 263), (0.2553, 0.3662)),
    Example(NEWCOMBE_SINGLE, "0 of 20", lambda: wilson(0, 20), (0.0, 0.1611)),
    Example(
        f"{AGRESTI}, section 10.1",
        "ratings of a prime minister, McNemar's z",
        lambda: Tango(86, 150, 1600).distance(0),
        -4.17,
        5e-3,
    ),
    Example(FAGERLAND_PAIRED, "Bentur", lambda: Tango(1, 7, 21).interval(), (-0.517, -0.026), 5e-4),
    Example(FAGERLAND_PAIRED, "Bentur, test", lambda: p_value(Tango(1, 7, 21)), 0.0339, 5e-5),
    Example(FAGERLAND, "Perondi", lambda: newcombe((7, 34), (1, 34)), (0.019, 0.340), 5e-4),
    Example(FAGERLAND, "Perondi", lambda: agresti_caffo((7, 34), (1, 34)), (0.012, 0.321), 1e-3),
    Example(KRIPPENDORFF, "B", lambda: alpha(["0100000010", "1110010000"]), 0.095, 5e-4),
    Example(KRIPPENDORFF, "D", lambda: alpha(FOUR_OBSERVERS), 0.743, 5e-4),
    Example(
        "Feinstein and Cicchetti 1990, Journal of Clinical Epidemiology 43, table 3",
        "kappa, unbalanced",
        lambda: kappa_of_table([[80, 10], [5, 5]]),
        0.32,
        5e-3,
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
]


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=lambda example: f"{example.source}: {example.name}"
)
def test_a_published_example_gives_the_printed_value(example: Example) -> None:
    assert example.compute() == pytest.approx(example.printed, abs=example.tolerance)


@pytest.mark.parametrize(
    ("table", "kappa", "error"),
    [
        # diagnoses of 100 patients: Fleiss, Levin and Paik 2003, section 18.1; by statsmodels
        ([[75, 1, 4], [5, 4, 1], [0, 0, 10]], 0.6764706, 0.08770295),
        # manual of R's statpsych: ci.kappa(.05, 31, 12, 4, 58)
        ([[31, 12], [4, 58]], 0.6756757, 0.07344761),
    ],
)
def test_kappa_has_the_error_of_fleiss_cohen_and_everitt(
    table: list[list[int]], kappa: float, error: float
) -> None:
    """A rare label is no reason for a wider t."""
    cells = np.array(table)
    items = int(cells.sum())
    raters = (np.repeat(labels.ravel(), cells.ravel()) for labels in np.indices(cells.shape))
    value, method = ClusterJackknife(range(items)).value_and_method(cohens_kappa(*raters))
    assert isinstance(method, LogOdds)
    assert value == pytest.approx(kappa, abs=5e-7)
    delta_error = method.error * (1 - value**2) / 2
    assert delta_error * (1 - 1 / items) ** 0.5 == pytest.approx(error, rel=1e-4)
    assert method.freedom == pytest.approx(items - 1)
