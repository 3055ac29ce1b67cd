"""Error rates of recorded answers by group, and their differences."""

from pathlib import Path

import pytest

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
    assert frame.loc["race: black", "FPR p"] == pytest.approx(0.156, abs=0.001)
    assert frame.loc["race: black", "FPR p, Holm"] > 0.4
    assert frame.loc["sex: female", "FPR p, Holm"] < 0.05


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


@pytest.mark.parametrize(
    ("first", "second", "by_story", "by_both"),
    [
        ("people", "consult", (-0.011, 0.218), (-0.022, 0.231)),
        ("consult", "gpt", (-0.195, 0.071), (-0.258, 0.137)),
    ],
)
def test_debates_of_one_judge_are_not_independent(judged, first, second, by_story, by_both) -> None:
    """Intervals and p account for both judges and stories that occur in many debates."""
    sides = [Side(name, ("human",), "accuracy") for name in (first, second)]
    contrast = Contrast("x", "?", *sides, "differ", paired=False, family="recorded")
    difference = measure(contrast, judged.experiments)
    assert (difference.low, difference.high) == pytest.approx(by_both, abs=0.008)
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
    assert (difference_by_story.low, difference_by_story.high) == pytest.approx(by_story, abs=0.008)
    assert any("by story and judge at once" in note for note in judged.notes)
