"""Error rates of recorded answers by group, and their differences."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.api import OLS, add_constant
from statsmodels.stats.proportion import test_proportions_2indep as compare_proportions

from moot.report.study_results import StudyResults
from moot.scores.contrasts import Contrast, Side, measure
from moot.studies.recorded.tables import groups
from recorded_runs import recorded_study

COLUMNS = {
    "debate": "",
    "case": "id",
    "model": "who",
    "answer": "said",
    "truth": "gold",
    "attributes": ["sex", "race"],
}


def test_fourteen_of_fourteen_do_not_differ_from_twenty_five_of_thirty_one(tmp_path: Path) -> None:
    """Self-consistency of grok: black and white people who were not arrested again."""
    study = recorded_study(
        tmp_path,
        {"loader": "agenticsimlaw", "source": "shipped"},
        {"votes": "self-consistency"},
        {"grok": "xai/grok-4-1-fast-non-reasoning-latest"},
    )
    frame = groups(study).frame.set_index("group")
    assert frame.loc["race: black", "false positive rate"] == 1
    assert frame.loc["race: white", "false positive rate"] == pytest.approx(25 / 31)
    by_race, by_sex = (
        compare_proportions(*counts, method="agresti-caffo").pvalue
        for counts in ((14, 14, 25, 31), (19, 29, 33, 35))
    )
    assert frame.loc["race: black", "FPR p"] == pytest.approx(by_race)
    assert frame.loc["sex: female", "FPR p"] == pytest.approx(by_sex)
    # the smallest and the second smallest p of four tests
    assert frame.loc["sex: female", "FPR p, Holm"] == pytest.approx(4 * by_sex)
    assert frame.loc["race: black", "FPR p, Holm"] == pytest.approx(3 * by_race)


def test_the_denominator_of_a_rate_decides_whether_it_is_shown(tmp_path: Path) -> None:
    """Nine of twelve women were not arrested again; they alone define the false positive rate."""
    lines = ["id,who,said,gold,sex,race"]
    for number in range(52):
        answer = "YES" if number % 3 else "NO"
        truth = "YES" if number % 4 == 0 else "NO"
        sex = "female" if number < 12 else "male"
        lines.append(f"c{number},m,{answer},{truth},{sex},r")
    (tmp_path / "answers.csv").write_text("\n".join(lines))
    dataset = {
        "loader": "transcripts",
        "path": str(tmp_path / "answers.csv"),
        "columns": COLUMNS,
        "labels": {"NO": "no", "YES": "yes"},
        "positive": "yes",
    }
    study = recorded_study(tmp_path, dataset, {"answers": "answer"}, {"mine": "m"})
    frame = groups(study).frame.set_index("group")
    assert frame.loc["sex: female", "cases"] == 12
    assert frame.loc["sex: female", "named positive"] > 0
    cells = frame.loc[
        "sex: female", ["false positive rate", "FPR p", "FPR p, Holm", "false negative rate"]
    ]
    assert cells.isna().all()
    assert frame.loc["sex: male", "false positive rate"] > 0


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
