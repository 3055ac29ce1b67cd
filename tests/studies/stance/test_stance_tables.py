"""Tables and figures of the stance study."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from conference_runs import make_study, write_predictions
from moot.core.cases import Case, Task
from moot.protocols import PROTOCOLS
from moot.report import FIGURES, TABLES
from moot.scores.results import ExperimentResults
from results_on_disk import (
    experiment_view,
)


def write_stance_results(folder: Path, model: str, **params: Any) -> ExperimentResults:
    task = Task("the claim", "?", ("con", "pro"), "pro")
    cases = [
        Case(f"c{n}", "claims", "test", "x", "pro" if n % 2 else "con", ("con", "pro"))
        for n in range(8)
    ]
    answers = ["pro" if n in (1, 3, 5, 6) else "" if n == 7 else "con" for n in range(8)]
    checked_params = PROTOCOLS["stance"].params.model_validate(params).model_dump()
    return write_predictions(
        folder,
        cases,
        answers,
        task,
        experiment_view("stance", "claims", (model,), params=checked_params),
        folder.name,
    )


def test_published_values_are_shown_next_to_runs_with_equal_prompts(tmp_path: Path) -> None:
    comparable = write_stance_results(tmp_path / "alike", "gemma-2-9b", answer="json")
    other_run = write_stance_results(
        tmp_path / "other", "gemma-2-9b", prompting="few_shot", answer="likelihood"
    )
    frame = (
        TABLES["stance/table3_claim_stance"]
        .build(make_study("stance", [comparable, other_run]))
        .frame
    )
    accuracy = frame[(frame["system"] == "gemma-2-9b") & (frame["metric"] == "accuracy")].set_index(
        "asked"
    )
    assert accuracy.loc["zero-shot, json", "published"] == 0.861
    assert accuracy.loc["zero-shot, json", "difference"] == pytest.approx(6 / 7 - 0.861)
    assert pd.isna(accuracy.loc["few-shot, likelihood", "published"])
    strict = frame[frame["metric"] == "accuracy, invalid = wrong"].set_index("asked")["ours"]
    assert strict["zero-shot, json"] == 6 / 8
    assert set(frame["system"]) >= {"gpt-4", "trained_system", "majority-class", "base-rate-coin"}


def test_paired_tests_compare_runs_on_the_same_cases(tmp_path: Path) -> None:
    first = write_stance_results(tmp_path / "one", "small")
    second = write_stance_results(tmp_path / "two", "large", prompting="few_shot")
    frame = TABLES["stance/paired_tests"].build(make_study("stance", [first, second])).frame
    assert (
        len(frame) == 1
        and frame["cases"].item() == 8
        and frame["difference"].item() == 0
        and frame["p"].item() == 1
    )


def test_trained_baselines_are_shown_next_to_published_ones(tmp_path: Path) -> None:
    row = {
        "baseline": "bag-of-words",
        "dataset": "vast",
        "title": "Bag of words, logistic regression",
        "n": 8,
    }
    row |= {"evaluation": "test", "status": "ok", "confusion": "[[2, 1, 1], [0, 1, 0], [1, 0, 2]]"}
    board = pd.DataFrame(
        [row | {"accuracy": 0.5, "precision_macro": 0.5, "recall_macro": 0.5, "f1_macro": 0.4}]
    )
    task = Task("the post", "?", ("con", "neutral", "pro"))
    cases = [Case("c0", "vast", "test", "x", "con", task.labels)]
    config = experiment_view(
        "stance", "vast", ("m",), params=PROTOCOLS["stance"].params().model_dump()
    )
    run = write_predictions(tmp_path, cases, ["con"], task, config, "v")
    study = make_study("stance", [run], vast=board)
    frame = TABLES["stance/table1_vast"].build(study).frame
    ours = frame[frame["system"].str.startswith("Bag of words") & (frame["metric"] == "F1, macro")]
    assert ours["published"].item() == 0.349 and ours["difference"].item() == pytest.approx(0.051)
    by_class = TABLES["stance/table2_vast_by_class"].build(study).frame
    con = by_class[
        by_class["system"].str.startswith("Bag of words") & (by_class["metric"] == "F1 con")
    ]
    assert con["ours"].item() == pytest.approx(2 * 2 / (3 + 4))


def test_f1_of_each_class_is_shown_for_runs_and_references(tmp_path: Path) -> None:
    task = Task("the post", "?", ("con", "neutral", "pro"))
    targets, answers = ["con", "con", "pro", "neutral"], ["con", "pro", "pro", ""]
    cases = [
        Case(f"c{n}", "vast", "test", "x", target, task.labels) for n, target in enumerate(targets)
    ]
    config = experiment_view(
        "stance", "vast", ("m",), params=PROTOCOLS["stance"].params().model_dump()
    )
    study = make_study("stance", [write_predictions(tmp_path, cases, answers, task, config, "v")])
    frame = TABLES["stance/table2_vast_by_class"].build(study).frame
    ours = frame.set_index(["system", "metric"])["ours"]
    assert ours["m", "F1 con"] == ours["m", "F1 pro"] == pytest.approx(2 / 3)
    assert ours["m", "F1 neutral, invalid = wrong"] == 0
    assert (
        ours["majority-class", "F1 con"] == pytest.approx(2 * 2 / (2 + 4))
        and ours["majority-class", "F1 pro"] == 0
    )


def test_true_labels_come_from_all_evaluated_cases(tmp_path: Path) -> None:
    full_run = write_stance_results(tmp_path / "every", "m")
    case = Case("c1", "claims", "test", "x", "pro", ("con", "pro"))
    partial_run = write_predictions(
        tmp_path / "few", [case], ["pro"], full_run.task, full_run.config, "few"
    )
    drawing = FIGURES["stance/figure2_true_labels"].build(
        make_study("stance", [full_run, partial_run])
    )
    counts = [text.get_text() for text in drawing.axes[0].texts]
    assert counts == ["4", "4", "4", "4"], "test cases con and pro, then those evaluated"
