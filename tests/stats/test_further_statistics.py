"""The lines under "Further statistics" of docs/statistics.md give worked examples' numbers."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from moot.stats.calibration import auc_statistic
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import Statistic

PAGE = (Path(__file__).parents[2] / "docs/statistics.md").read_text("utf-8")
SECTION = PAGE.split("## Further statistics")[1].split("\n## ")[0]
LINES = dict(re.findall(r"^\| ([^|]+) \| `([^`]+)`", SECTION, re.MULTILINE))
IMPORTS = re.findall(r"```python\n(.+?)```", SECTION, re.DOTALL)[0]


def follow(statistic: str, **values: object) -> object:
    """Follow the line of a statistic whose name begins so, and return its last value."""
    [line] = [line for name, line in LINES.items() if name.startswith(statistic)]
    names: dict[str, object] = {"np": np, **values}
    exec(IMPORTS, names)  # the page is the project's own
    *steps, last = line.split("; ")
    exec("\n".join(steps), names)
    return eval(last, names)


def ratings(counts: Mapping[tuple[str, str], int]) -> np.ndarray:
    """Return a row for each item with the labels of two raters, from a table of counts."""
    return np.repeat(np.array(list(counts)), list(counts.values()), axis=0)


def test_fleiss_kappa_of_fourteen_raters() -> None:
    """Ten items in five categories: Wikipedia, "Fleiss' kappa", worked example."""
    rows = "0 0 0 0 14,0 2 6 4 2,0 0 3 5 6,0 3 9 2 0,2 2 8 1 1,7 7 0 0 0,3 2 6 3 0,2 5 3 2 2"
    rows += ",6 5 2 1 0,0 2 2 3 7"
    answers = [np.repeat(range(5), np.array(row.split(), int)) for row in rows.split(",")]
    assert follow("Fleiss' kappa", answers=np.array(answers)) == pytest.approx(0.210, abs=5e-4)


def test_gwets_ac1_where_kappa_is_below_0() -> None:
    """Gwet 2008, British Journal of Mathematical and Statistical Psychology 61, table 1."""
    answers = ratings({("+", "+"): 118, ("+", "-"): 5, ("-", "+"): 2})
    assert follow("Gwet's AC1", answers=answers) == pytest.approx(0.9408, abs=5e-5)


def test_cochrans_q_of_three_sportswriters() -> None:
    """Conover 1999, Practical Nonparametric Statistics, section 4.6: Q is 2.8."""
    columns = ["110101110011", "111101110111", "110001101011"]
    right = np.array([list(map(int, column)) for column in columns]).T
    assert follow("Cochran's Q", right=right) == pytest.approx(np.exp(-1.4), abs=5e-4)


def test_mid_p_of_airway_measurements() -> None:
    """Fagerland, Lydersen and Laake 2013, BMC Medical Research Methodology 13: Bentur."""
    assert follow("mid-p", b=1, c=7) == pytest.approx(0.039, abs=5e-4)


def test_four_of_fifteen_discoveries() -> None:
    """Benjamini and Hochberg 1995, JRSS B 57, section 4.1."""
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
    p_values += [0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert (np.asarray(follow("Benjamini and Hochberg", p_values=p_values)) <= 0.05).sum() == 4


def test_a_calibration_slope_of_one_half() -> None:
    """By hand: of answers said to be 90 % sure, 75 % are right (log odds 1.1 for 2.2)."""
    right = np.repeat([1, 0, 1, 0], [75, 25, 25, 75])
    log_odds = np.repeat([np.log(9), -np.log(9)], 100)
    slope = follow("calibration slope", right=right, log_odds=log_odds)
    assert slope == pytest.approx(0.5, abs=1e-4)


def test_the_difference_of_two_auc_has_the_variance_of_delong() -> None:
    """DeLong, DeLong and Clarke-Pearson 1988: structural components, computed by hand."""
    random = np.random.default_rng(2)
    truth = np.repeat([1.0, 0.0], [40, 60])
    scores = random.normal(truth + random.normal(size=100)), random.normal(0.5 * truth)
    components = []
    for score in scores:
        wins = (score[:40, None] > score[None, 40:]).astype(float)
        components.append((wins.mean(axis=1), wins.mean(axis=0)))
    by_positive, by_negative = (np.subtract(*part) for part in zip(*components, strict=True))
    expected = by_positive.var(ddof=1) / 40 + by_negative.var(ddof=1) / 60
    first, second = (auc_statistic(truth, score) for score in scores)
    tools = {"ClusterJackknife": ClusterJackknife, "Statistic": Statistic}
    value, low, high = follow(
        "difference of two AUC", cases=range(100), first=first, second=second, **tools
    )
    assert value == pytest.approx(by_positive.mean())
    assert ((high - low) / 2 / 1.984) ** 2 == pytest.approx(expected, rel=0.05)
