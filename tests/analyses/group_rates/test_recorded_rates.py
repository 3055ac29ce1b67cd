"""Error rates of recorded answers by group, and their differences."""

from pathlib import Path

import pandas as pd
import pytest
from statsmodels.stats.proportion import test_proportions_2indep as compare_proportions

from moot.analyses.group_rates.tables import group_rates_table
from moot.report.study_results import StudyResults
from recorded_runs import recorded_study, study_of_answers

GUILTY = 40


def rates(study: StudyResults) -> pd.DataFrame:
    return group_rates_table(study).frame.set_index(["rate", "group"])


@pytest.mark.filterwarnings("ignore:divide by zero")  # an odds ratio that is not used
def test_rates_of_recorded_votes_differ_as_by_agresti_and_caffo(tmp_path: Path) -> None:
    """Self-consistency of grok, over people who were not arrested again."""
    dataset = {"loader": "agenticsimlaw", "source": "shipped", "attributes": ["sex", "race"]}
    models = {"grok": "xai/grok-4-1-fast-non-reasoning-latest"}
    false_positive = rates(recorded_study(tmp_path, dataset, {"votes": "self-consistency"}, models))
    false_positive = false_positive.loc["false positive rate"]
    assert false_positive.loc["black", "ours"] == 1
    assert false_positive.loc["white", "ours"] == pytest.approx(25 / 31)
    assert false_positive.loc["black", "p (Holm)"] > 0.05
    for group, counts in {"black": (14, 14, 25, 31), "female": (19, 29, 33, 35)}.items():
        expected = compare_proportions(*counts, method="agresti-caffo").pvalue
        assert false_positive.loc[group, "p"] == pytest.approx(expected)


def test_own_answers_are_compared_by_their_attributes(tmp_path: Path) -> None:
    """18 of 20 innocent men and 2 of 20 innocent women are called guilty."""
    lines = []
    for number in range(80):
        is_man, is_guilty = number % 2 == 0, number >= GUILTY
        yes_count = 10 if is_guilty else (18 if is_man else 2)
        answer = "YES" if number // 2 % 20 < yes_count else "NO"
        truth = "YES" if is_guilty else "NO"
        sex = "male" if is_man else "female"
        lines.append(f"c{number},m,{answer},{truth},{sex},r{number % 3}")
    study = study_of_answers(tmp_path, lines)
    frame = rates(study)
    female = frame.loc["false positive rate", "female"]
    assert (female["ours"], female["difference"]) == (pytest.approx(0.1), pytest.approx(-0.8))
    assert female["p (Holm)"] == pytest.approx(9 * female["p"]) and female["p"] < 1e-6
    assert set(frame["tests in family"].dropna()) == {9}, "three rates, one and two comparisons"
