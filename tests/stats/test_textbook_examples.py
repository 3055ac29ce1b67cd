"""Worked examples of textbooks and papers.

The printed numbers were written down from memory, without the sources at hand: check a number and
its place before you cite it. A tolerance is half of the last printed digit.
"""

import numpy as np
import pytest

from moot.stats.agreement import cohens_kappa
from moot.stats.intervals import LogOdds, Tango, difference_interval, p_value, wilson_interval
from moot.stats.jackknife import ClusterJackknife


@pytest.mark.parametrize(
    ("first", "second", "printed"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ],
)
def test_a_difference_of_shares_has_newcombes_interval(
    first: tuple[int, int], second: tuple[int, int], printed: tuple[float, float]
) -> None:
    """Newcombe 1998, Statistics in Medicine 17, 873-890, table II, method 10."""
    sides = [wilson_interval(right / cases, cases) for right, cases in (first, second)]
    assert difference_interval(*sides) == pytest.approx(printed, abs=5e-5)


def test_pairs_that_differ_have_the_printed_interval_and_test() -> None:
    """Agresti 2002, section 10.1, and Fagerland, Lydersen and Laake 2014: Bentur."""
    assert Tango(86, 150, 1600).distance(0) == pytest.approx(-4.17, abs=5e-3)
    assert Tango(1, 7, 21).interval() == pytest.approx((-0.517, -0.026), abs=5e-4)
    assert p_value(Tango(1, 7, 21)) == pytest.approx(0.0339, abs=5e-5)


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
