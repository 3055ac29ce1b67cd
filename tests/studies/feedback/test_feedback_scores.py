"""Scores of Debate-Feedback on a few debates whose figures can be worked out by hand."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from moot.core.cases import Case
from moot.papers.parts import ItemRun
from moot.scores.results import ExperimentResults
from moot.studies.feedback.papers import smoothing, sweeps
from moot.studies.feedback.scores import WEIGHTS, feedback
from paper_items import ITEMS, PUBLISHED
from results_on_disk import experiment_view, prediction, study_of, utterance, write_results
from scripted_model import WINNER

# case: target, O_0, LM(x, sum), threshold met. At T = 0.5: O_1 = 0.35, 0.6, 0.4, 0.55 and (not met)
# 0.7.
DEBATES = {
    "wrong-stays-wrong": ("plaintiff", 0.3, 0.4, True),
    "corrected": ("plaintiff", 0.3, 0.9, True),
    "spoilt": ("plaintiff", 0.6, 0.2, True),
    "kept-by-smoothing": ("plaintiff", 0.9, 0.2, True),
    "kept-by-threshold": ("plaintiff", 0.7, 0.1, False),
}


def probabilities(share: float) -> dict[str, float]:
    return {"defendant": 1 - share, "plaintiff": share}


def step(latest: float, current: float, met: bool) -> str:
    parsed = {
        "smoothed": probabilities(current),
        "latest": probabilities(latest),
        "answer": "plaintiff" if latest > 0.5 else "defendant",
        "threshold_met": met,
        "probability": "token probabilities",
    }
    return json.dumps(parsed)


def make_debate(case_id: str, first: float, latest: float, met: bool) -> list[dict[str, Any]]:
    final = 0.5 * first + 0.5 * latest if met else first
    reliability = json.dumps({"debater": "debater 1", "reliability": 0.8 if met else 0.1})
    return [
        utterance(case_id, 1, "judge", kind="smoothed", parsed=step(first, first, True)),
        utterance(
            case_id, 2, "assistant", kind="reliability", parsed=reliability, prediction="plaintiff"
        ),
        utterance(case_id, 3, "judge", kind="smoothed", parsed=step(latest, final, met)),
        utterance(case_id, 5, "debater 1", kind="rebuttal", prediction="plaintiff" if met else ""),
        utterance(
            case_id,
            6,
            "moot",
            kind="conclusion",
            parsed=json.dumps({"status": "valid", "score": final}),
        ),
    ]


@pytest.fixture
def results(tmp_path: Path) -> ExperimentResults:
    cases = [
        Case(name, "toy", "test", name, target, WINNER.labels)
        for name, (target, *_) in DEBATES.items()
    ]
    rows = []
    for name, (_, first, latest, met) in DEBATES.items():
        rows += make_debate(name, first, latest, met)
    answers = [prediction(name, target, "plaintiff") for name, (target, *_) in DEBATES.items()]
    config = experiment_view(protocol="feedback", params={"weight": 0.5})
    return write_results(
        tmp_path, cases, {"tiny": answers}, {"tiny": rows}, WINNER, "toy-feedback", config
    )


def value(frame: pd.DataFrame, metric: str, group: str = "overall") -> float:
    rows = frame[(frame["metric"] == metric) & (frame["group"] == group)]
    assert len(rows) == 1
    return float(rows["value"].iloc[0])


def test_corrections_and_degradations_by_hand(results: ExperimentResults) -> None:
    frame = feedback(results)
    assert value(frame, "accuracy_initial") == pytest.approx(3 / 5)
    assert (value(frame, "corrections"), value(frame, "degradations")) == (1, 1)
    assert value(frame, "accuracy_final") == pytest.approx(3 / 5)
    # without smoothing (T = 1) the judge's last word alone counts: one more case is spoilt, the
    # unmet one never
    assert (value(frame, "corrections", "T=1"), value(frame, "degradations", "T=1")) == (1, 2)
    assert value(frame, "accuracy_final", "T=1") == pytest.approx(2 / 5)


@pytest.mark.parametrize(("loader", "count"), [("caselaw", 2), ("cail18", 0)])
def test_the_table_of_smoothing_is_of_caselaw(
    results: ExperimentResults, loader: str, count: int
) -> None:
    params = {"weight": 0.5, "debaters": 1, "rounds": 1}
    results.config = replace(results.config, loader=loader, params=params)
    study = study_of(results, study="feedback", scores=feedback(results), published=PUBLISHED)
    assert len([*smoothing(ItemRun(ITEMS["feedback/table5"], study))]) == count


def test_weight_0_changes_no_answer(
    results: ExperimentResults,
) -> None:
    frame = feedback(results)
    assert value(frame, "corrections", "T=0") == value(frame, "degradations", "T=0") == 0
    assert value(frame, "accuracy_final", "T=0") == value(frame, "accuracy_initial")
    assert value(frame, "accuracy_final", "T=0.5") == value(frame, "accuracy_final")
    assert {f"T={weight:g}" for weight in WEIGHTS} <= set(frame["group"])


def test_the_assistants_quality(results: ExperimentResults) -> None:
    frame = feedback(results)
    # every opinion is right; reliabilities are 0.8 four times and 0.1 once
    assert value(frame, "assistant_brier") == pytest.approx((4 * 0.04 + 0.81) / 5)
    assert pd.isna(value(frame, "assistant_auc"))
    assert value(frame, "share_of_rounds_above_threshold") == pytest.approx(4 / 5)
    assert value(frame, "share_of_opinions_without_position") == pytest.approx(1 / 5)
    assert value(frame, "share_of_token_probabilities") == 1


def test_thresholds_are_fitted_only_on_validation_cases(tmp_path: Path) -> None:
    # All shares lie below a half; on the validation cases 0.3 parts plaintiffs from defendants.
    shares = {"v1": 0.4, "v2": 0.2, "v3": 0.41, "v4": 0.21, "t1": 0.39, "t2": 0.22}
    cases = [
        Case(
            name,
            "toy",
            "validation" if name[0] == "v" else "test",
            name,
            "plaintiff" if share > 0.3 else "defendant",
            WINNER.labels,
        )
        for name, share in shares.items()
    ]
    rows = []
    for name, share in shares.items():
        rows += make_debate(name, share, share, True)
    answers = [
        prediction(case.case_id, case.target, case.target) for case in cases if case.split == "test"
    ]
    config = experiment_view(protocol="feedback", params={"weight": 0.5})
    frame = feedback(
        write_results(
            tmp_path, cases, {"tiny": answers}, {"tiny": rows}, WINNER, "toy-feedback", config
        )
    )
    assert value(frame, "accuracy_final") == value(frame, "accuracy_initial") == 1
    assert set(frame["n"]) == {2}


def test_other_protocols_have_no_such_scores(results: ExperimentResults) -> None:
    results.config = experiment_view(protocol="courtroom")
    assert feedback(results).empty


def test_debates_without_an_answer_are_counted(tmp_path: Path) -> None:
    cases = [Case(name, "toy", "test", name, "plaintiff", WINNER.labels) for name in ("a", "b")]
    conclusions = [
        utterance(
            case.case_id,
            1,
            "moot",
            kind="conclusion",
            parsed=json.dumps({"status": "invalid", "score": None}),
        )
        for case in cases
    ]
    answers = [prediction(case.case_id, case.target, "") for case in cases]
    config = experiment_view(protocol="feedback", params={"weight": 0.5})
    frame = feedback(
        write_results(
            tmp_path,
            cases,
            {"tiny": answers},
            {"tiny": conclusions},
            WINNER,
            "toy-feedback",
            config,
        )
    )
    assert pd.isna(value(frame, "accuracy_final", "T=0.5")) and pd.isna(value(frame, "corrections"))
    assert set(frame["n"]) == {0} and set(frame["n_invalid"]) == {2}


def test_the_debates_of_a_sweep_differ_in_one_parameter(tmp_path: Path) -> None:
    experiments = []
    for debaters, weight in product((1, 2), (0.3, 0.7)):
        params = {"debaters": debaters, "rounds": 2, "weight": weight}
        view = replace(experiment_view("feedback", "caselaw", params=params), entry="mine")
        name = f"mine-debaters={debaters}-weight={weight}"
        experiments.append(ExperimentResults(tmp_path, name, view))
    results = study_of(*experiments)
    assert not sweeps(results, "rounds")
    low, high = sweeps(results, "debaters")
    assert {run.config.params["weight"] for run in low} == {0.3}
    assert {run.config.params["weight"] for run in high} == {0.7}
    assert [run.config.params["debaters"] for run in low] == [1, 2]
    assert [run.config.params["debaters"] for run in high] == [1, 2]
