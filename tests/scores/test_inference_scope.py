"""Tests of debates within few cases, and the number of cases that a test by case needs."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moot.core.cases import Case
from moot.core.rubric import RUBRICS
from moot.overview.tables_contrasts import contrasts
from moot.scores.contrasts import CANNOT_TELL, FIRST_HIGHER, SUPPORTED, Contrast, Side, judge
from moot.scores.inference_scope import evaluate_among_valid, evaluate_contrast
from moot.scores.results import ExperimentResults
from moot.studies.appellate.data_opinions import TASK
from panel_results import statement
from results_on_disk import experiment_view, prediction, study_of, write_labels, write_results

PROJECT = Path(__file__).resolve().parents[2]
CASES = [
    Case(f"c{number}", "opinions", "test", "Facts.", "affirm", TASK.labels, {})
    for number in range(5)
]
LABELS = {1: "AFFIRM", 0: "REVERSE"}
JUDGES, ROUNDS, REPEATS = 3, 3, 20


def write_panels(folder: Path, protocol: str, changes: float, seed: int = 0) -> ExperimentResults:
    """Write five cases with twenty debates each, as in the paper.

    Each judge changes its position in each round with the probability `changes`.
    """
    random = np.random.default_rng(seed)
    statements, rows, labels = list[dict[str, Any]](), [], {}
    for case, repeat in product(CASES, range(REPEATS)):
        debate = f"{case.case_id}#{repeat}"
        rows.append(prediction(case.case_id, "affirm", "affirm", repeat=repeat))
        positions = random.integers(0, 2, JUDGES)
        for turn in range(JUDGES * ROUNDS):
            number, seat = divmod(turn, JUDGES)
            is_human = protocol == "human_panel" and seat == JUDGES - 1
            if number and not is_human:
                positions[seat] ^= int(random.random() < changes)
            speaker = "human" if is_human else f"judge_{seat + 1}"
            said = statement(debate, turn + 1, speaker, number + 1, "a", is_human)
            statements.append(said | {"repeat": repeat})
            labels[debate, turn + 1] = LABELS[int(positions[seat])]
    params = {"judges": JUDGES, "rounds": ROUNDS, "votes": "none"}
    view = replace(
        experiment_view(protocol, "opinions", params=params), rubric=RUBRICS["appellate"]
    )
    results = write_results(
        folder, CASES, {"tiny": rows}, {"tiny": statements}, TASK, protocol, view
    )
    write_labels(results, "tiny", labels)
    return results


def make_contrast(metric: str = "volatility") -> Contrast:
    sides = [Side(name, ("tiny",), metric) for name in ("human_panel", "panel")]
    return Contrast("moves", "", sides[0], sides[1], FIRST_HIGHER, True, "appellate")


def test_a_contrast_of_five_cases_states_the_cases_that_a_test_by_case_needs(
    tmp_path: Path,
) -> None:
    runs = (
        write_panels(tmp_path, "human_panel", 0.12),
        write_panels(tmp_path, "panel", 0.04, seed=1),
    )
    row = contrasts(study_of(*runs, contrasts=[make_contrast()])).frame.iloc[0]
    assert (row["answer"], row["speaks of"]) == ("supported", "these 5 cases")
    assert row["cases"] == 5
    assert 2 <= row["cases needed"] < 100
    assert row["difference low"] > 0 and row["p"] < 0.05


def test_few_cases_are_compared_with_a_threshold_within_the_range_of_the_metric(
    tmp_path: Path,
) -> None:
    """Judges hardly ever move, so that a symmetric interval would end below a share of 0."""
    name, threshold = "panel", 0.1
    experiments = {name: write_panels(tmp_path, name, 0.004)}
    side = Side(name, ("tiny",), "volatility")
    contrast = replace(
        make_contrast(), first=side, second=replace(side, threshold=threshold), margin=0.2
    )
    answer = evaluate_contrast(contrast, experiments)
    assert answer and answer.population == "these 5 cases"
    difference = answer.difference
    assert 0 < difference.first < 0.01
    assert -threshold < difference.low < difference.difference < difference.high < 0
    assert difference.p < 0.05 and difference.equivalence < 0.05


def test_five_cases_debated_once_have_a_test_by_case(tmp_path: Path) -> None:
    folder = tmp_path
    rows = [prediction(case.case_id, "affirm", "affirm") for case in CASES]
    mistakes = [prediction(case.case_id, "affirm", "reverse") for case in CASES[1:]]
    mistakes.append(prediction(CASES[0].case_id, "affirm", ""))
    for name, answers in (("human_panel", rows), ("panel", mistakes)):
        view = experiment_view("zero_shot", "opinions")
        write_results(folder, CASES, {"tiny": answers}, task=TASK, experiment=name, config=view)
    view = experiment_view("zero_shot", "opinions")
    experiments = {name: ExperimentResults(folder, name, view) for name in ("human_panel", "panel")}
    answer = evaluate_contrast(make_contrast("accuracy"), experiments)
    assert answer and answer.population == "cases like these"
    # Tango's score of five of five cases is the root of 5
    assert answer.difference.p == pytest.approx(0.0253, abs=0.0001)
    verdicts = [judge(make_contrast(), 1, answer.difference.p, level) for level in (0.05, 0.01)]
    assert verdicts == [SUPPORTED, CANNOT_TELL]
    contrast = make_contrast("accuracy")
    assert evaluate_among_valid(contrast, experiments)
    assert evaluate_among_valid(replace(contrast, second=contrast.first), experiments) is None
    assert str(Side("", (), "accuracy", threshold=0.5)) == "0.5"
