"""Test the table of control arms: each arm compared with its debate on common cases."""

import json
from pathlib import Path
from typing import Any

import pytest

from moot.analyses.arms.tables import what_debate_adds
from moot.scores.results import ExperimentResults, ExperimentView
from results_on_disk import case, prediction, study_of, utterance, write_results

TRUTH = {"a": "yes", "b": "no", "c": "yes", "d": "no"}
CASES = [case(name, target) for name, target in TRUTH.items()]


def run(
    folder: Path, name: str, answers: dict[str, str], arm: str = "", side: str = "", **columns: Any
) -> ExperimentResults:
    rows, transcript = [], []
    note = json.dumps({"arm": arm, "side": side})
    for key, answer in answers.items():
        rows.append(prediction(key, TRUTH[key], answer, **columns))
        if side:
            transcript.append(
                utterance(f"{key}#0", 1, "moot", kind="arm", parsed=note, visibility="moot")
            )
        transcript.append(utterance(f"{key}#0", 2, "judge", kind="verdict"))
    view = ExperimentView(
        "courtroom", "toy", ("tiny",), "test", {}, {}, arm, "trial" if arm else ""
    )
    return write_results(
        folder, CASES, {"tiny": rows}, {"tiny": transcript}, experiment=name, config=view
    )


def test_each_arm_is_compared_with_its_debate_on_common_cases(tmp_path: Path) -> None:
    debate = run(
        tmp_path, "trial", {"a": "yes", "b": "no", "c": "yes", "d": "no"}, calls=16, cost_usd=0.25
    )
    noise = run(
        tmp_path,
        "trial-arm=noise",
        {"a": "yes", "b": "yes", "c": "no", "d": ""},
        "noise",
        calls=4,
        cost_usd=0.05,
    )
    one_side = run(
        tmp_path,
        "trial-arm=consultancy",
        {"a": "yes", "b": "yes", "c": "yes"},
        "consultancy",
        "yes",
        calls=10,
    )
    arms = {arm.experiment: arm for arm in (noise, one_side)}
    results = study_of(debate, controls=arms)
    first, second = what_debate_adds(results).frame.to_dict("records")

    assert (first["arm"], first["debate right"], first["arm right"], first["difference"]) == (
        "noise",
        1,
        0.25,
        0.75,
    )
    assert (
        first["cases"],
        first["tests in family"],
        first["calls a case, debate"],
        first["calls a case, arm"],
    ) == (
        4,
        2,
        16,
        4,
    )
    assert first["US dollars a case, arm"] == pytest.approx(0.05)
    assert first["prompt tokens a case, arm"] + first["generated tokens a case, arm"] == 100
    assert first["same answer"] == pytest.approx(1 / 3), "invalid answers are not compared"

    assert (second["arm"], second["cases"], second["debate right"]) == ("consultancy", 3, 1)
    assert second["arm right"] == pytest.approx(2 / 3)
    assert second["p (Holm)"] >= second["p"]


def test_a_debate_without_arms_has_no_row(tmp_path: Path) -> None:
    debate = run(tmp_path, "trial", {"a": "yes"})
    assert what_debate_adds(study_of(debate)).frame.empty
