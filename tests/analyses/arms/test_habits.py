"""Test that habits of judges are estimated without bias from control arms."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moot.analyses.arms.habits import habit_rows
from moot.report.habits import habits_table
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from moot.scores.results import ExperimentResults, ExperimentView
from results_on_disk import case as build_case
from results_on_disk import prediction, utterance, write_results

CASES = [build_case(f"c{number:03}", ("no", "yes")[number % 2]) for number in range(200)]
OPPOSITE = {"yes": "no", "no": "yes"}


def draw_answers(
    rng: np.random.Generator,
    repeats: int = 1,
    pull: float = 0.0,
    sides: dict[str, str] | None = None,
) -> Any:
    """Draw answers that are correct in 70 %, or favour a side with probability `pull`."""
    answers = {}
    for case in CASES:
        for repeat in range(repeats):
            answer = case.target if rng.random() < 0.7 else OPPOSITE[case.target]
            swayed = sides is not None and rng.random() < pull
            answers[case.case_id, repeat] = sides[case.case_id] if swayed and sides else answer
    return answers


def run(
    folder: Path, name: str, answers: dict[tuple[str, int], str], arm: str = "", **notes: Any
) -> ExperimentResults:
    """Return an experiment.

    `notes` has the side of each case, `steps` the answers of the judge to challenges.
    """
    targets = {case.case_id: case.target for case in CASES}
    rows, transcript = [], []
    for (key, repeat), answer in answers.items():
        rows.append(prediction(key, targets[key], answer, repeat=repeat))
        debate = f"{key}#{repeat}"
        if side := notes.get("sides", {}).get(key, ""):
            parsed = json.dumps({"arm": arm, "side": side})
            transcript.append(
                utterance(debate, 1, "moot", kind="arm", parsed=parsed, visibility="moot")
            )
        for number, step in enumerate(notes.get("steps", {}).get(key, ()), 1):
            transcript.append(
                utterance(
                    debate, 1 + number, "judge", kind="challenge", prediction=step, round=number
                )
            )
        transcript.append(utterance(debate, 20, "judge", kind="verdict"))
    view = ExperimentView(
        "courtroom", "toy", ("tiny",), "test", {}, {}, arm, "trial" if arm else ""
    )
    return write_results(
        folder, CASES, {"tiny": rows}, {"tiny": transcript}, experiment=name, config=view
    )


def table(debate: ExperimentResults, *arms: ExperimentResults) -> Any:
    published: Any = None
    arms_by_name = {arm.experiment: arm for arm in arms}
    results = StudyResults(
        "courtroom", {"trial": debate}, no_scores(), {}, published, controls=arms_by_name
    )
    return habits_table(habit_rows(results)).frame


def test_a_planted_pull_is_estimated_and_its_absence_too(
    tmp_path: Path,
) -> None:
    """The judge takes the side in half of the cases anyway, so that a pull of 0.4 changes 0.4 * 0.5
    of the verdicts.
    """
    rng = np.random.default_rng(3)
    sides = {case.case_id: ("no", "yes")[int(rng.random() < 0.5)] for case in CASES}
    debate = run(tmp_path, "trial", draw_answers(rng, 2))
    arms = []
    for name, pull in (("plant_citation", 0.4), ("swap", 0.0)):
        answers = draw_answers(rng, 2, pull, sides)
        arms.append(run(tmp_path, f"trial-arm={name}", answers, name, sides=sides))
    rows = table(debate, *arms).set_index("habit")
    planted, unplanted = rows.loc["authority: a planted citation"], rows.loc["the last word"]
    assert (
        planted["difference low"] < 0.2 < planted["difference high"] and planted["p (Holm)"] < 0.05
    )
    assert unplanted["difference low"] < 0 < unplanted["difference high"] and unplanted["p"] > 0.05
    assert (planted["judge"], planted["known by"], planted["cases"]) == (
        "tiny",
        "the arm plant_citation",
        200,
    )
    assert planted["changes if asked twice"] == pytest.approx(0.42, abs=0.06), "2 x 0.7 x 0.3"


@pytest.mark.slow
def test_intervals_of_habits_cover_and_tests_keep_their_level(tmp_path: Path) -> None:
    covered, called = 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sides = {case.case_id: ("no", "yes")[int(rng.random() < 0.5)] for case in CASES}
        debate = run(tmp_path / str(seed), "trial", draw_answers(rng))
        arm = run(
            tmp_path / str(seed),
            "trial-arm=plant_padding",
            draw_answers(rng, 1, 0.0, sides),
            "plant_padding",
            sides=sides,
        )
        [row] = table(debate, arm).to_dict("records")
        covered += row["difference low"] <= 0 <= row["difference high"]
        called += row["p"] < 0.05
    assert covered >= 54 and called <= 6


def test_yielding_is_counted_by_challenge_and_by_correctness(
    tmp_path: Path,
) -> None:
    """The judge gives up every other correct answer at challenge two, every wrong one at one."""
    first, last, sides, steps = {}, {}, {}, {}
    for number, case in enumerate(CASES):
        key, is_correct = case.case_id, number % 4 < 2
        answer = case.target if is_correct else OPPOSITE[case.target]
        if not is_correct:
            steps[key] = [OPPOSITE[answer]]
        elif number % 4 == 0:
            steps[key] = [answer, OPPOSITE[answer]]
        else:
            steps[key] = [answer] * 6
        first[key, 0], last[key, 0], sides[key] = answer, steps[key][-1], answer
    debate = run(tmp_path, "trial", first)
    arm = run(tmp_path, "trial-arm=challenge", last, "challenge", sides=sides, steps=steps)
    rows = table(debate, arm).set_index("habit")["chosen"].round(6).to_dict()
    assert rows == {
        "giving way: challenge 1": 0.5,
        **{f"giving way: challenge {step}": 0.75 for step in range(2, 7)},
        "giving way: a right answer": 0.5,
        "giving way: a wrong answer": 1.0,
    }


def test_a_judge_with_random_answers_does_not_count_as_yielding(tmp_path: Path) -> None:
    """Random answers change at six challenges as often as at six repeats."""
    rng = np.random.default_rng(5)
    debate_answers = draw_answers(rng, 2)
    first = {key: answer for key, answer in debate_answers.items() if key[1] == 0}
    steps: dict[str, list[str]] = {}
    for (key, _), later_answer in first.items():
        target = next(case.target for case in CASES if case.case_id == key)
        steps[key] = []
        while len(steps[key]) < 6 and (not steps[key] or steps[key][-1] == later_answer):
            steps[key].append(target if rng.random() < 0.7 else OPPOSITE[target])
    debate = run(tmp_path, "trial", debate_answers)
    sides = {key: answer for (key, _), answer in first.items()}
    last = {key: steps[key[0]][-1] for key in first}
    arm = run(tmp_path, "trial-arm=challenge", last, "challenge", sides=sides, steps=steps)
    rows = table(debate, arm).set_index("habit")
    assert rows.loc["giving way: challenge 6", "chosen"] > 0.8
    steps_of_table = rows[rows.index.str.startswith("giving way: challenge")]
    assert len(steps_of_table) == 6 and (steps_of_table["difference low"] < 0).all()
    assert rows.loc["giving way: challenge 1", "expected"] == pytest.approx(0.42, abs=0.07)


def test_the_share_explained_by_random_answers_does_not_depend_on_repeats(tmp_path: Path) -> None:
    """Half of the cases have two wrong answers, the others one: half of the cases change when
    repeated.
    """
    debate, last, steps, wrong_answers = {}, {}, {}, {}
    for number, case in enumerate(CASES):
        key, wrong_answer = case.case_id, OPPOSITE[case.target]
        has_two_wrong_answers = number % 4 >= 2
        debate[key, 0], last[key, 0] = wrong_answer, wrong_answer
        debate[key, 1] = wrong_answer if has_two_wrong_answers else case.target
        if has_two_wrong_answers:
            last[key, 1] = wrong_answer
        steps[key], wrong_answers[key] = [wrong_answer] * 6, wrong_answer
    arm = run(tmp_path, "trial-arm=challenge", last, "challenge", sides=wrong_answers, steps=steps)
    row = (
        table(run(tmp_path, "trial", debate), arm)
        .set_index("habit")
        .loc["giving way: a wrong answer"]
    )
    assert (row["chosen"], row["expected"]) == (0, pytest.approx(1 - 0.5**6))


def test_changes_without_an_argued_side_are_compared_with_repeated_answers(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    debate = run(tmp_path, "trial", draw_answers(rng, 3))
    arm = run(tmp_path, "trial-arm=plant_citation", draw_answers(rng, 3), "plant_citation")
    [row] = table(debate, arm).to_dict("records")
    assert row["habit"] == "authority: a planted citation: any change of answer"
    assert (row["chosen"], row["expected"]) == (
        pytest.approx(0.42, abs=0.05),
        pytest.approx(0.42, abs=0.05),
    )
    assert row["difference low"] < 0 < row["difference high"] and np.isnan(row["p"])
