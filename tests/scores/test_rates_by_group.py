"""Error rates by group, and their differences from the largest group."""

from math import nan
from pathlib import Path

import pytest
from statsmodels.stats.proportion import test_proportions_2indep as compare_proportions

from moot.report.study_results import StudyResults
from moot.scores.group_rates import (
    FALSE_POSITIVE,
    PREDICTED,
    TRUE_POSITIVE,
    GroupRate,
    group_rates,
)
from recorded_runs import recorded_study, study_of_answers

GUILTY = 40


def rates_of(study: StudyResults, model: str, *rates: str) -> list[GroupRate]:
    (results,) = study.experiments.values()
    return group_rates(results, model, rates)


@pytest.mark.filterwarnings("ignore:divide by zero")  # an odds ratio that is not used
def test_rates_of_recorded_votes_differ_as_by_agresti_and_caffo(tmp_path: Path) -> None:
    """Self-consistency of grok, over people who were not arrested again."""
    dataset = {"loader": "agenticsimlaw", "source": "shipped", "attributes": ["sex", "race"]}
    models = {"grok": "xai/grok-4-1-fast-non-reasoning-latest"}
    study = recorded_study(tmp_path, dataset, {"votes": "self-consistency"}, models)
    rates = {rate.group: rate for rate in rates_of(study, "grok", FALSE_POSITIVE)}
    assert (rates["black"].value, rates["white"].value) == (1, pytest.approx(25 / 31))
    for group, counts in {"black": (14, 14, 25, 31), "female": (19, 29, 33, 35)}.items():
        expected = compare_proportions(*counts, method="agresti-caffo").pvalue
        assert rates[group].p == pytest.approx(expected)


def test_own_answers_are_compared_by_their_attributes(tmp_path: Path) -> None:
    """18 of 20 innocent men and 2 of 20 innocent women are called guilty.

    All of twelve others are innocent. Nine people are too few for a group.
    """
    lines = [f"d{number},m,NO,NO,{'other' if number < 12 else 'few'}," for number in range(21)]
    for number in range(80):
        is_man, is_guilty = number % 2 == 0, number >= GUILTY
        yes_count = 10 if is_guilty else (18 if is_man else 2)
        answer = "YES" if number // 2 % 20 < yes_count else "NO"
        truth = "YES" if is_guilty else "NO"
        sex = "male" if is_man else "female"
        lines.append(f"c{number},m,{answer},{truth},{sex},r{number % 3}")
    rates = rates_of(
        study_of_answers(tmp_path, lines), "mine", TRUE_POSITIVE, FALSE_POSITIVE, PREDICTED
    )
    rows = []
    for rate in rates:
        if rate.attribute == "sex":
            difference = rate.difference.difference if rate.difference else nan
            rows.append(
                (rate.group, rate.value, rate.cases, rate.n, rate.compared_with, difference)
            )
    expected = [
        ("female", 0.5, 20, 20, "male", 0),
        ("male", 0.5, 20, 20, "", nan),
        ("other", nan, 0, 0, "", nan),
        ("female", 0.1, 20, 20, "male", -0.8),
        ("male", 0.9, 20, 20, "", nan),
        ("other", 0, 12, 12, "male", -0.9),
        ("female", 0.3, 40, 40, "male", -0.4),
        ("male", 0.7, 40, 40, "", nan),
        ("other", 0, 12, 12, "male", -0.7),
    ]
    for row, expected_row in zip(rows, expected, strict=True):
        assert row == pytest.approx(expected_row, nan_ok=True)
    compared = {rate.compared_with for rate in rates if rate.attribute == "race"}
    assert compared == {"", "r1"}, "of two groups of 27, the last by name"
    (of_women,) = [rate for rate in rates if (rate.group, rate.rate) == ("female", FALSE_POSITIVE)]
    assert of_women.low < 0.1 < of_women.high and of_women.p < 1e-6
