"""A planned comparison without an answer states how many cases an answer needs."""

import itertools
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moot.core.config import PowerConfig
from moot.overview.tables_contrasts import contrasts, describe_needed_cases
from moot.scores.contrasts import DIFFER, Contrast, Side, measure
from moot.scores.inference_scope import evaluate_contrast
from moot.scores.results import ExperimentResults
from moot.stats.power import Goal, cases_needed, paired_proportions
from results_on_disk import case, experiment_view, prediction, study_of, utterance, write_results

NEEDED = re.compile(r"about ([\d,]+) cases( on each side)? are needed")
LETTERS = {"y": "yes", "n": "no", "-": ""}
TRUTH = "yn"


def write_run(
    folder: Path, experiment: str, answers: str, repeats: int = 1, model: str = "a"
) -> ExperimentResults:
    """Write a run with one letter a case; the truth is yes and no in turn."""
    cases = [case(f"c{number}", LETTERS[TRUTH[number % 2]]) for number in range(len(answers))]
    rows: list[dict[str, Any]] = []
    for repeat in range(repeats):
        for person, letter in zip(cases, answers, strict=True):
            answer = LETTERS[letter]
            rows.append(prediction(person.case_id, person.target, answer, repeat=repeat))
    view = experiment_view(models=(model,))
    return write_results(folder, cases, {model: rows}, experiment=experiment, config=view)


def sentences(
    folder: Path,
    first: str,
    second: str,
    *,
    repeats: int = 1,
    metric: str = "accuracy",
    second_model: str = "a",
    contrast_count: int = 1,
    paired: bool = True,
    **power: float,
) -> str:
    """Return the sentences of a comparison between two runs of one letter a case."""
    runs = [
        write_run(folder, "debate", first, repeats),
        write_run(folder, "alone", second, repeats, second_model),
    ]
    planned_contrasts = [
        Contrast(
            f"contrast-{number}",
            "Is it better?",
            Side("debate", ("a",), metric),
            Side("alone", (second_model,), metric),
            DIFFER,
            paired,
            "courtroom",
        )
        for number in range(contrast_count)
    ]
    results = study_of(*runs, contrasts=planned_contrasts, power=PowerConfig(**power))
    return str(contrasts(results).frame["in words"].iloc[0])


def needed_cases(text: str) -> int:
    match = NEEDED.search(text)
    assert match, text
    return int(match[1].replace(",", ""))


def right_answers(count: int) -> str:
    return (TRUTH * count)[:count]


def wrong_answers(count: int) -> str:
    return right_answers(count).translate(str.maketrans("yn", "ny"))


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("count", [2, 40])
@pytest.mark.parametrize("answers", ["right", "wrong", "constant", "invalid"])
def test_equal_methods_on_all_cases(tmp_path: Path, answers: str, count: int, repeats: int) -> None:
    letters = {
        "right": right_answers(count),
        "wrong": wrong_answers(count),
        "constant": "y" * count,
        "invalid": "-" * count,
    }[answers]
    text = sentences(tmp_path, letters, letters, repeats=repeats)
    assumed = math.ceil(cases_needed(0.1, paired_proportions(0.3)))
    assert needed_cases(text) == assumed
    assert text.endswith(
        f"are needed, if only one side is right on 30% of them; this run has {count}."
    )


@pytest.mark.parametrize(
    ("count", "count_of_changes"), [(4, 1), (5, 2), (9, 3), (12, 2), (30, 2), (30, 5)]
)
def test_too_few_cases(tmp_path: Path, count: int, count_of_changes: int) -> None:
    """The sides are right on as many cases, so no number of cases shows the difference found."""
    half = count_of_changes // 2
    first = (
        wrong_answers(count_of_changes)[: count_of_changes - half]
        + right_answers(count)[count_of_changes - half :]
    )
    second = right_answers(count)[: count - half] + wrong_answers(count)[count - half :]
    text = sentences(tmp_path, first, second)
    assert needed_cases(text) > count and text.endswith(f"this run has {count}.")
    is_assumed = "if only one side is right on 30% of them" in text
    assert is_assumed == (count < 10)


@pytest.mark.parametrize(("count", "count_of_changes"), [(60, 4), (200, 8), (800, 8)])
def test_enough_cases_without_an_answer(tmp_path: Path, count: int, count_of_changes: int) -> None:
    half = count_of_changes // 2
    first = wrong_answers(half) + right_answers(count)[half:]
    second = right_answers(count)[: count - half] + wrong_answers(count)[count - half :]
    text = sentences(tmp_path, first, second)
    assert needed_cases(text) <= count
    assert text.endswith(f"this run has {count}, which suffice.")


@pytest.mark.parametrize("count", [10, 40])
def test_an_answer_needs_no_further_cases(tmp_path: Path, count: int) -> None:
    text = sentences(tmp_path, right_answers(count), wrong_answers(count))
    assert text in ("None", "nan"), "no sentence"


@pytest.mark.parametrize(
    "power",
    [
        {"difference": 0.2},
        {"difference": 0.05, "power": 0.9},
        {"level": 0.01},
        {"discordant_share": 0.5},
    ],
)
def test_the_configured_goal_counts(tmp_path: Path, power: dict[str, float]) -> None:
    goal = PowerConfig(**power)
    text = sentences(tmp_path, right_answers(6), right_answers(6), **power)
    assert needed_cases(text) == math.ceil(
        cases_needed(
            goal.difference,
            paired_proportions(goal.discordant_share),
            goal=Goal(goal.level, goal.power),
        )
    )
    assert f"a difference of {goal.difference:g} with {goal.power:.0%} power" in text


def test_several_tests_take_more_cases(tmp_path: Path) -> None:
    (tmp_path / "several").mkdir()
    single = sentences(tmp_path, right_answers(6), right_answers(6))
    text_of_three = sentences(
        tmp_path / "several", right_answers(6), right_answers(6), contrast_count=3
    )
    assert needed_cases(text_of_three) > needed_cases(single)
    assert "80% power after Holm's correction for 3 tests, about" in text_of_three


@pytest.mark.parametrize("metric", ["tokens", "calls"])
def test_other_metrics_have_no_sentences(tmp_path: Path, metric: str) -> None:
    assert sentences(tmp_path, right_answers(6), wrong_answers(6), metric=metric) == ""


@pytest.mark.parametrize("count", [2, 3, 20])
def test_a_panels_metrics_state_how_many_cases_are_needed(tmp_path: Path, count: int) -> None:
    random = np.random.default_rng(5)
    cases, talk = [case(f"c{number:02}", "yes") for number in range(count)], []
    for item, _ in itertools.product(cases, range(2)):
        for answer in random.choice(["yes", "no"], 3):
            seat = {"prediction": str(answer), "kind": "vote", "parse_status": "strict"}
            name = f"judge_{len(talk) % 3}"
            talk.append(utterance(f"{item.case_id}#0", len(talk), name, "Words.", **seat))
    rows = [prediction(item.case_id, "yes", "yes") for item in cases]
    runs = {"panel": write_results(tmp_path, cases, {"a": rows}, {"a": talk}, experiment="panel")}
    sides = [Side("panel", ("a",), f"agreement_{moment}") for moment in ("after", "before")]
    contrast = Contrast("main", "Do they agree more?", *sides, DIFFER, True, "courtroom")
    difference = measure(contrast, runs)
    assert difference
    text = describe_needed_cases(contrast, runs, difference, PowerConfig(), 1)
    if count < 10:
        answer = evaluate_contrast(contrast, runs)
        assert answer and math.isnan(answer.needed_cases)
        assert text.endswith(f"cannot be estimated from {count}; it takes at least 10.")
    else:
        assert needed_cases(text) > 20 and "this run has 20" in text
