"""Deferral: thresholds learnt on planted errors, and what a run lacks where none can be learnt."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from moot.analyses.deferral.risk import (
    answers_needed,
    area_statistic,
    draw_one_per_cluster,
    learn_threshold,
    risk_by_coverage,
)
from moot.analyses.deferral.signals import NO_SIGNAL, REPEATS_AGREE, STATED_CONFIDENCE
from moot.analyses.deferral.tables import EVERYTHING, deferral
from moot.core.errors import CannotTellError
from moot.report.notes import NO_TRUTH
from moot.scores.case_metrics import CASE_METRICS
from moot.stats.jackknife import ClusterJackknife
from results_on_disk import case, prediction, study_of, write_results

CASES = 300


def deferral_table(
    folder: Path, rows: list[dict[str, Any]], targets: dict[str, str]
) -> pd.DataFrame:
    cases = [case(name, target) for name, target in targets.items()]
    results = write_results(folder, cases, {"tiny": rows}, {"tiny": []})
    return deferral(study_of(results)).frame


def planted_rows(is_faultless_if_sure: bool = True) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Half of the answers are sure; sure ones are right, or all answers are wrong half the time."""
    rows, targets = [], {}
    random = np.random.default_rng(3)
    for number in range(CASES):
        name = f"c{number:03}"
        target = ("no", "yes")[number % 2]
        is_sure = number % 4 < 2
        is_right = is_sure if is_faultless_if_sure else bool(random.integers(2))
        answer = target if is_right else {"no": "yes", "yes": "no"}[target]
        confidence = 90 if is_sure else 40
        rows.append(prediction(name, target, answer, confidence=confidence))
        targets[name] = target
    return rows, targets


def test_correct_answers_with_high_confidence_are_kept(tmp_path: Path) -> None:
    frame = deferral_table(tmp_path, *planted_rows())
    assert set(frame["signal"]) == {STATED_CONFIDENCE}
    row = frame[frame["allowed error"] == 0.1].iloc[0]
    assert row["keep if the signal is at least"] == "0.9"
    assert row["share deferred"] == pytest.approx(0.5, abs=0.1)
    assert row["error among the rest"] == 0 and row["rest high"] < 0.1
    assert row["cases for a person"] == round(row["share deferred"] * CASES)
    assert row["area below risk and coverage"] < row["error without deferral"]


def test_everything_is_deferred_where_confidence_says_nothing(tmp_path: Path) -> None:
    frame = deferral_table(tmp_path, *planted_rows(is_faultless_if_sure=False))
    assert set(frame["keep if the signal is at least"]) == {EVERYTHING}
    assert (frame["share deferred"] == 1).all() and frame["error among the rest"].isna().all()


@pytest.mark.parametrize("share_invalid", [0.2, 0.6, 1.0])
def test_invalid_answers_count_as_wrong_and_are_always_deferred(
    tmp_path: Path, share_invalid: float
) -> None:
    rows, targets = planted_rows()
    for row in rows[: round(share_invalid * CASES)]:
        row |= {"prediction": "", "status": "invalid"}
    frame = deferral_table(tmp_path, rows, targets)
    if share_invalid == 1:
        assert frame["what is missing"].tolist() == ["no valid answer"]
        return
    assert frame["error without deferral"].iloc[0] >= share_invalid
    assert (frame["share deferred"] >= share_invalid - 0.1).all()


@pytest.mark.parametrize(
    ("target", "confidence", "missing"),
    [
        ("", 80, NO_TRUTH),
        (None, None, NO_SIGNAL),
        (None, 80, NO_SIGNAL),
    ],
)
def test_a_run_says_what_is_missing(
    tmp_path: Path, target: str | None, confidence: float | None, missing: str
) -> None:
    rows, targets = planted_rows()
    for row in rows:
        row["confidence"] = confidence
        row["target"] = row["target"] if target is None else target
    frame = deferral_table(tmp_path, rows, targets)
    assert frame["what is missing"].tolist() == [missing]
    assert frame["share deferred"].isna().all() and frame["cases"].tolist() == [CASES]


def test_few_cases_are_refused_with_the_number_that_is_needed(tmp_path: Path) -> None:
    rows, targets = planted_rows()
    frame = deferral_table(tmp_path, rows[:6], dict(list(targets.items())[:6]))
    assert frame["what is missing"].tolist() == ["too few cases: 6 clusters; needed: 10"]


@pytest.mark.parametrize(("thresholds", "level"), [(1, 0.05), (5, 0.01)])
def test_an_error_that_is_not_allowed_is_kept_as_seldom_as_promised(
    thresholds: int, level: float
) -> None:
    """The number of wrong answers is binomial; Bonferroni's correction divides the level."""
    counts, candidates = np.arange(101), np.linspace(0, 1, thresholds)
    is_kept = []
    for count in counts:
        is_wrong = np.arange(100) < count
        is_kept.append(learn_threshold(np.ones(100), is_wrong, candidates, 0.2) < np.inf)
    assert level / 3 < binom.pmf(counts, 100, 0.2)[is_kept].sum() <= level


@pytest.mark.parametrize(("max_error", "count"), [(0.05, 59), (0.1, 29), (0.2, 14)])
def test_the_smallest_number_of_faultless_answers(max_error: float, count: int) -> None:
    signals, is_wrong = np.ones(count), np.zeros(count, dtype=bool)
    assert answers_needed(max_error) == count
    assert learn_threshold(signals, is_wrong, np.array([1.0]), max_error) == 1
    assert learn_threshold(signals[1:], is_wrong[1:], np.array([1.0]), max_error) == np.inf


def test_one_answer_of_each_cluster_is_drawn() -> None:
    clusters = [f"case {number // 7}" for number in range(70)]
    positions = draw_one_per_cluster(clusters, 1)
    assert sorted(clusters[position] for position in positions) == sorted(set(clusters))


def test_half_of_the_cases_give_the_threshold_and_the_others_one_answer_each(
    tmp_path: Path,
) -> None:
    rows, targets = planted_rows()
    repeats = [{**row, "repeat": number} for row, number in product(rows, range(3))]
    frame = deferral_table(tmp_path, repeats, targets)
    confident = frame[frame["signal"] == STATED_CONFIDENCE]
    assert set(frame["signal"]) == {STATED_CONFIDENCE, REPEATS_AGREE}
    assert set(confident["answers"]) == {3 * CASES}
    assert (confident["answers kept"] > 0).all() and (frame["answers measured"] == CASES / 2).all()
    deferred = 1 - frame["answers kept"] / frame["answers measured"]
    assert frame["share deferred"].tolist() == pytest.approx(deferred.tolist())


def test_large_clusters_are_not_all_in_the_first_half() -> None:
    clusters = [*(f"large {number % 20}" for number in range(2000)), *map(str, range(20))]
    counts = []
    for seed in range(20):
        positions = draw_one_per_cluster(clusters, seed)
        counts.append(sum(clusters[position].startswith("large") for position in positions[:20]))
    assert 8 < np.mean(counts) < 12


def test_the_kind_with_the_fewest_clusters_is_drawn() -> None:
    sample = ClusterJackknife([("a", "x"), ("b", "x"), ("c", "y")])
    assert sample.codes.tolist() == [0, 0, 1]


def test_risk_and_area_follow_their_definitions() -> None:
    signals = np.array([0.9, 0.9, 0.5, 0.1])
    is_wrong = np.array([False, False, True, True])
    [coverage], [risk] = risk_by_coverage(signals, is_wrong, np.ones((1, 4)))
    assert coverage.tolist() == [0.5, 0.75, 1]
    assert risk == pytest.approx([0, 1 / 3, 0.5])
    statistic = area_statistic(signals, is_wrong)
    area = ClusterJackknife(range(4)).value(statistic)
    assert area == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)


def test_accuracy_when_sure_is_that_of_the_surer_half(tmp_path: Path) -> None:
    stated = [("yes", 90), ("no", 80), ("yes", 70), ("no", 60), ("", 99)]
    rows = [
        prediction(f"c{number}", "yes", answer, confidence=confidence)
        for number, (answer, confidence) in enumerate(stated)
    ]
    rows.append(prediction("c5", "", "yes", confidence=95))
    cases = [case(row["case_id"], row["target"]) for row in rows]
    results = write_results(tmp_path, cases, {"tiny": rows, "other": rows[:2]}, {"tiny": []})
    terms = CASE_METRICS["accuracy_when_sure"](results, "tiny")
    assert terms.case_ids == ["c0", "c1", "c2", "c3"]
    assert terms.bottoms[:, 0].tolist() == [1, 1, 0, 0]
    assert terms.tops[:, 0].tolist() == [1, 0, 0, 0]
    with pytest.raises(CannotTellError, match="no answer states how sure it is"):
        CASE_METRICS["accuracy_when_sure"](results, "nobody")
