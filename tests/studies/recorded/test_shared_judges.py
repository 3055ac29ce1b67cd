"""Differences between recorded judges' debates, which share stories and judges."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from statsmodels.regression.linear_model import OLS
from statsmodels.tools import add_constant

from moot.report.study_results import StudyResults
from moot.scores.contrasts import Contrast, Side, measure
from moot.studies.recorded.tables import nyu_judges
from recorded_runs import recorded_study


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """The shipped records of the NYU debates."""
    return recorded_study(
        tmp_path_factory.mktemp("nyu"),
        {"loader": "nyu_debates", "source": "shipped"},
        {"people": "people debate", "consult": "people consult", "gpt": "AI consult"},
        {"human": "human judge"},
    )


def robust_error(judged: StudyResults, names: Sequence[str], kinds: Sequence[int]) -> float:
    """The standard error of a difference by statsmodels, clustered by story (0), judge (1)."""
    right, is_first, clusters = list[bool](), list[bool](), list[tuple[str, ...]]()
    for name in names:
        rows, by_case = judged.experiments[name].predictions, judged.experiments[name].clusters
        right += ((rows["status"] == "valid") & (rows["prediction"] == rows["target"])).tolist()
        is_first += [name == names[0]] * len(rows)
        clusters += [by_case[case] for case in rows["case_id"]]
    groups = pd.DataFrame(clusters).apply(lambda column: pd.factorize(column)[0]).to_numpy()
    fit = OLS(np.array(right, float), add_constant(np.array(is_first, float))).fit(
        cov_type="cluster", cov_kwds={"groups": groups[:, list(kinds)].squeeze()}
    )
    return float(fit.bse[1])


@pytest.mark.parametrize(("first", "second"), [("people", "consult"), ("consult", "gpt")])
def test_debates_of_one_judge_are_not_independent(judged, first, second) -> None:
    """Intervals and p account for both judges and stories that occur in many debates."""
    sides = [Side(name, ("human",), "accuracy") for name in (first, second)]
    contrast = Contrast("x", "?", *sides, "differ", paired=False, family="recorded")
    difference = measure(contrast, judged.experiments)
    half_widths = [(difference.high - difference.low) / 2]
    assert difference.p > 0.05
    results = judged.experiments.values()
    for experiment in results:
        experiment.__dict__["clusters"] = {
            case: story for case, (story, _) in experiment.clusters.items()
        }
    try:
        difference_by_story = measure(contrast, judged.experiments)
    finally:
        for experiment in results:
            del experiment.__dict__["clusters"]
    half_widths.append((difference_by_story.high - difference_by_story.low) / 2)
    for half_width, kinds in zip(half_widths, ((0, 1), (0,)), strict=True):
        # the jackknife is wider than statsmodels' CR1, and t than the normal distribution
        theirs = 1.96 * robust_error(judged, (first, second), kinds)
        assert theirs < half_width < 1.35 * theirs
    assert half_widths[0] > half_widths[1]
    assert any("by story and judge at once" in note for note in judged.notes)


def test_the_interval_of_judges_accuracy_stands_beside_it(judged: StudyResults) -> None:
    """Behind the difference from the published value, it would be read as its interval."""
    frame = nyu_judges(judged).frame
    names = list(frame.columns)
    place = names.index("ours")
    assert names[place : place + 4] == ["ours", "95 % low", "95 % high", "difference"]
    assert (frame["95 % low"] < frame["ours"]).all() and (frame["ours"] < frame["95 % high"]).all()
