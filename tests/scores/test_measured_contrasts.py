"""Metrics of contrasts, and the differences between their sides."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from messages import refusal
from moot.scores.case_metrics import CASE_METRICS
from moot.scores.contrasts import DIFFER, Contrast, Side, measure
from moot.scores.inference_scope import assumed_spread, evaluate_contrast
from moot.scores.results import ExperimentResults
from moot.stats.differences import Sums, compare_unpaired
from moot.stats.power import Spread
from moot.stats.statistic import AMOUNT, F1_ODDS, SHARE, Bounds
from results_on_disk import REARREST, case, experiment_view, prediction, write_results

CASES = [case(f"c{number}", "no" if number % 3 else "yes") for number in range(30)]
ANSWERS = {"y": "yes", "n": "no", "m": "maybe", "-": ""}
CORRECT, CONSTANT = "ynn" * 10, "y" * 30


def write_run(folder: Path, experiment: str, **answers: str) -> ExperimentResults:
    """Write a run with one letter of `answers` for each case, by model."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for model, letters in answers.items():
        pairs = zip(CASES, letters, strict=False)
        rows[model] = [prediction(item.case_id, item.target, ANSWERS[x]) for item, x in pairs]
    task = replace(REARREST, labels=("no", "yes", "maybe")) if experiment == "three" else REARREST
    view = experiment_view(models=tuple(answers))
    return write_results(folder, CASES, rows, task=task, experiment=experiment, config=view)


def compare(*sides: Side, paired: bool = True) -> Contrast:
    return Contrast("name", "?", *sides, DIFFER, paired, "courtroom")


def test_a_side_of_several_models_is_the_mean_over_them(tmp_path: Path) -> None:
    runs = {
        "debate": write_run(tmp_path, "debate", a=CONSTANT, b=CORRECT),
        "prompt": write_run(tmp_path, "prompt", a=CONSTANT, b=CONSTANT),
    }
    sides = [Side(name, ("a", "b"), "accuracy") for name in runs]
    difference = measure(compare(*sides), runs)
    assert difference and difference.cases == 30
    assert (difference.first, difference.second) == pytest.approx((2 / 3, 1 / 3))
    assert [str(replace(sides[0], models=models)) for models in (("a", "b"), ("a",), ())] == [
        "debate, 2 models",
        "debate, a",
        "debate, no shared models",
    ]


def test_the_gain_over_the_most_frequent_label_is_a_metric(tmp_path: Path) -> None:
    runs = {"debate": write_run(tmp_path, "debate", a=CORRECT, b=CONSTANT)}
    for model, gain in (("a", 1 / 3), ("b", -1 / 3)):
        side = Side("debate", (model,), "gain_over_majority")
        difference = measure(compare(side, replace(side, threshold=0.0)), runs)
        assert difference and difference.difference == pytest.approx(gain)


def test_both_sides_average_f1_over_the_same_labels(tmp_path: Path) -> None:
    """A label that no case has counts as one mistake of 30, not as a third of the mean."""
    runs = {
        name: write_run(tmp_path / name, "three", b=mistake + CORRECT[1:])
        for name, mistake in (("debate", "m"), ("prompt", "-"))
    }
    sides = [Side(name, ("b",), "macro_f1") for name in runs]
    difference = measure(compare(*sides), runs)
    assert difference and difference.first == difference.second == pytest.approx((1 + 18 / 19) / 3)
    assert (difference.difference, difference.p) == (0, 1)


ROWS = [
    prediction("c0", "yes", "yes", probability=0.9),
    prediction("c0", "yes", "yes", repeat=1),
    prediction("c1", "no", "yes", score=0.8),
    prediction("c2", "no", "no", status="invalid", score=0.5),
    prediction("c3", "yes", "no"),
    prediction("c4", "", "no", calls=3),
    prediction("c5", "no", "no", confidence=75),
]
"""By cases, most are not rearrested; by debates, as many are."""
F1_BY_LABEL = ([0, 2, 0, 2, 0, 0, 0, 0, 0, 0, 2, 0], [0, 2, 0, 2, 1, 1, 1, 0, 1, 1, 2, 0])


@pytest.mark.parametrize(
    ("metric", "tops", "bottoms", "bounds"),
    [
        ("accuracy", [1, 1, 0, 0, 0, 1], [1] * 6, SHARE),
        ("accuracy_of_valid", [1, 1, 0, 0, 1], [1] * 5, SHARE),
        ("valid", [1, 1, 1, 0, 1, 1, 1], [1] * 7, SHARE),
        ("gain_over_majority", [1, 1, -1, -1, 0, 0], [1] * 6, (-1, 1)),
        ("f1", [2, 2, 0, 0, 0, 0], [2, 2, 1, 0, 1, 0], SHARE),
        ("macro_f1", *F1_BY_LABEL, SHARE),
        ("brier", [0.01, 0, 0.64, 0.25, 0, 0.125**2], [1, 0, 1, 1, 0, 1], SHARE),
        ("overconfidence", [-0.1, 0, 0.8, 0, 0, -0.125], [1, 0, 1, 0, 0, 1], (-1, 1)),
        ("tokens", [100] * 7, [1] * 7, AMOUNT),
        ("calls", [1, 1, 1, 1, 1, 3, 1], [1] * 7, AMOUNT),
    ],
)
def test_a_metric_is_a_ratio_of_sums_over_debates(
    metric: str, tops: list[float], bottoms: list[float], bounds: Bounds, tmp_path: Path
) -> None:
    other_rows = [prediction("c0", "yes", "no")]
    view = experiment_view(models=("a", "b"))
    results = write_results(tmp_path, CASES, {"a": ROWS, "b": other_rows}, config=view)
    terms = CASE_METRICS[metric](results, "a")
    assert terms.tops.ravel().tolist() == pytest.approx(tops)
    assert terms.bottoms.ravel().tolist() == bottoms
    assert terms.bounds == bounds and len(terms.case_ids) == len(terms.tops)
    is_f1 = metric.endswith("f1")
    assert (terms.needs_hits, terms.odds) == (is_f1, F1_ODDS if metric == "f1" else 1)


def test_a_metric_that_debates_do_not_have_is_refused(tmp_path: Path) -> None:
    results = write_run(tmp_path, "three", a=CORRECT)
    with refusal():
        CASE_METRICS["f1"](results, "a")
    results.config = experiment_view("recorded")
    for metric in ("tokens", "calls"):
        with refusal():
            CASE_METRICS[metric](results, "a")


def test_sides_with_different_cases_are_not_paired(tmp_path: Path) -> None:
    """Attributes select the cases; both sides' bounds hold for the difference."""
    rows = [prediction(item.case_id, item.target, "yes") for item in CASES]
    people = [replace(item, attributes={"sex": "fm"[n % 2]}) for n, item in enumerate(CASES)]
    runs = {"debate": write_results(tmp_path, people, {"a": rows}, experiment="debate")}
    side = Side("debate", ("a",), "accuracy", {"sex": "f"})
    assert str(side) == "debate, a where sex=f"
    contrast = compare(side, replace(side, cases={"sex": "m"}), paired=False)
    difference = measure(contrast, runs)
    expected = compare_unpaired(
        *(Sums(np.array([[1.0], [0], [0]] * 5), np.ones((15, 1))) for _ in range(2)),
        list(range(15)), list(range(15, 30)), SHARE,
    )  # fmt: skip
    assert difference and difference.difference == expected.difference == 0
    assert (difference.low, difference.p) == (expected.low, expected.p)
    assert measure(replace(contrast, paired=True), runs) is None, "no common cases"
    assert evaluate_contrast(replace(contrast, paired=True), runs) is None
    with refusal():
        measure(compare(replace(side, cases={"height": "1"}), side), runs)


@pytest.mark.parametrize(
    ("metrics", "threshold", "paired", "expected"),
    [
        (("accuracy", "accuracy"), None, True, Spread((0.3,))),
        (("valid", "accuracy"), 0.2, True, Spread((pytest.approx(0.16),))),
        (("valid", "accuracy"), None, False, None),
        (("tokens", "accuracy"), None, True, None),
    ],
)
def test_a_spread_is_assumed_for_shares_of_the_same_cases(
    metrics: tuple[str, str], threshold: float | None, paired: bool, expected: Spread | None
) -> None:
    first, second = (Side("debate", ("a",), metric) for metric in metrics)
    contrast = compare(first, replace(second, threshold=threshold), paired=paired)
    assert assumed_spread(contrast, 0.3) == expected
