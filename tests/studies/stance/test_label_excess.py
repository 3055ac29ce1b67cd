"""How much more often a model names a label than it is true."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from moot.core.cases import Case, Task
from moot.report import TABLES
from moot.report.published import read_published
from moot.report.study_results import StudyResults
from moot.scores import score_experiment
from moot.scores.inference_scope import estimate_metric
from moot.scores.results import ExperimentResults
from results_on_disk import (
    experiment_view,
    make_paper_matches,
    prediction,
    utterance,
    write_results,
)
from scripted_model import PROJECT

LABELS = ("negative", "neutral", "positive")
TASK = Task("the claim", "Which sentiment?", LABELS)
PARAMS = {"prompting": "zero_shot", "answer": "label"}


def polarity_results(
    folder: Path, truths: Sequence[str], answers: Sequence[str], protocol: str = "polarity"
) -> ExperimentResults:
    """Results of one model; "" is an invalid answer."""
    cases = [
        Case(f"c{n}", "claim_polarity", "test", "text", truth, LABELS)
        for n, truth in enumerate(truths)
    ]
    rows, transcript = [], []
    for case, answer in zip(cases, answers, strict=True):
        rows.append(prediction(case.case_id, case.target, answer))
        transcript.append(utterance(f"{case.case_id}#0", 1, "annotator", kind="answer"))
    config = experiment_view(protocol, "claim_polarity", ("tiny",), params=PARAMS)
    return write_results(
        folder, cases, {"tiny": rows}, {"tiny": transcript}, TASK, "polarity", config
    )


def excess_by_label(results: ExperimentResults) -> dict[str, float]:
    frame = score_experiment(results)
    frame = frame[frame["metric"] == "label_excess"]
    return dict(zip(frame["group"].str.removeprefix("label="), frame["value"], strict=True))


@pytest.mark.parametrize(
    ("truths", "answers", "expected"),
    [
        (["positive"] * 3 + ["negative"], ["negative"] * 4, (0.75, 0.0, -0.75)),
        (list(LABELS), list(LABELS), (0.0, 0.0, 0.0)),
        (["negative", "positive"], ["positive", "negative"], (0.0, 0.0, 0.0)),
        (["positive", "positive", "negative"], ["negative", "", "neutral"], (0.0, 0.5, -0.5)),
    ],
)
def test_excess_is_the_share_of_answers_less_that_of_truths(
    tmp_path: Path, truths: list[str], answers: list[str], expected: tuple[float, float, float]
) -> None:
    results = polarity_results(tmp_path, truths, answers)
    values = excess_by_label(results)
    assert tuple(values[label] for label in LABELS) == pytest.approx(expected)
    estimate = estimate_metric(results, "tiny", "negative_excess")
    assert estimate is not None and estimate.value == pytest.approx(expected[0])


def test_without_any_usable_answer_there_is_no_excess(tmp_path: Path) -> None:
    results = polarity_results(tmp_path, ["positive", "negative"], ["", ""])
    assert excess_by_label(results) == {}
    estimate = estimate_metric(results, "tiny", "negative_excess")
    assert estimate is None or estimate.value != estimate.value


def test_the_table_has_a_row_for_each_label(tmp_path: Path) -> None:
    results = polarity_results(tmp_path, ["positive"] * 12, ["negative"] * 12)
    published = read_published(PROJECT / "data/published/published_results.csv")
    study = StudyResults(
        "stance",
        {"polarity": results},
        score_experiment(results),
        {},
        published[published["study"] == "stance"],
        make_paper_matches({}),
    )
    frame = TABLES["stance/label_excess"].build(study).frame
    assert dict(zip(frame["label"], frame["excess"], strict=True)) == {
        "negative": 1,
        "neutral": 0,
        "positive": -1,
    }
    assert set(frame["n"]) == {12}
