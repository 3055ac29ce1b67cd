"""Recompute each sentence of `data/published/findings.csv` from the published results."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from scipy.optimize import least_squares
from sklearn import metrics

from moot.report import TABLES
from moot.report.published import read_findings, read_published

PUBLISHED = Path(__file__).resolve().parents[2] / "data" / "published"
FINDINGS = read_findings(PUBLISHED / "findings.csv")
DETERMINING = ("accuracy", "kappa", "mcc", "precision_weighted", "f1_weighted")


def published_rows(study: str, table: str) -> dict[str, dict[str, float]]:
    """Return a published table as a dictionary of rows by metric."""
    frame = read_published(PUBLISHED / "published_results.csv")
    frame = frame[(frame["study"] == study) & (frame["table"] == table)]
    metrics_by_row = {}
    for row, rows in frame.groupby("row", sort=False):
        metrics_by_row[str(row)] = dict(zip(rows["metric"], rows["value"], strict=True))
    return metrics_by_row


def equal(value: float, rounded: float) -> bool:
    return abs(value - rounded) <= 0.005 + 1e-9


def test_findings_name_existing_tables() -> None:
    assert FINDINGS and all(name in TABLES for name in FINDINGS)


# Weighted precision, weighted F1, accuracy, kappa and Matthews correlation of two labels follow
# from three shares: of positive cases, of positive predictions, and of both. A misfit says that no
# one confusion matrix is behind a row.


def metrics_of_shares(shares: np.ndarray) -> np.ndarray:
    positive, predicted, both = shares
    neither = 1 - positive - predicted + both
    accuracy, by_chance = both + neither, positive * predicted + (1 - positive) * (1 - predicted)
    spread = np.sqrt(positive * (1 - positive) * predicted * (1 - predicted))
    precision = positive * both / predicted + (1 - positive) * neither / (1 - predicted)
    f1 = positive * 2 * both / (positive + predicted) + (1 - positive) * 2 * neither / (
        2 - positive - predicted
    )
    kappa = (accuracy - by_chance) / (1 - by_chance)
    return np.array([accuracy, kappa, (both - positive * predicted) / spread, precision, f1])


def base_rate_behind(row: Mapping[str, float]) -> float:
    """Return the share of the rarer label that explains published metrics.

    Return NaN if no confusion matrix fits them.
    """
    expected = np.array([row[name] for name in DETERMINING])
    pairs = product((0.2, 0.3, 0.5), (0.05, 0.3, 0.6, 0.95))
    bounds = ((0.01, 0.001, 0.0), (0.99, 0.999, 0.99))
    fits = []
    for a, b in pairs:
        start = (a, b, a * b)
        fits.append(
            least_squares(lambda shares: metrics_of_shares(shares) - expected, start, bounds=bounds)
        )
    best_fit = min(fits, key=lambda fit: float(fit.cost))
    share = float(best_fit.x[0])
    return min(share, 1 - share) if np.abs(best_fit.fun).max() <= 0.005 else float("nan")


def test_a_base_rate_is_recovered_from_averages() -> None:
    actual, predicted = (
        np.repeat([1, 1, 0, 0], [60, 170, 90, 680]),
        np.repeat([1, 0, 1, 0], [60, 170, 90, 680]),
    )
    row = {
        "accuracy": metrics.accuracy_score(actual, predicted),
        "kappa": metrics.cohen_kappa_score(actual, predicted),
        "mcc": metrics.matthews_corrcoef(actual, predicted),
        "precision_weighted": metrics.precision_score(actual, predicted, average="weighted"),
        "f1_weighted": metrics.f1_score(actual, predicted, average="weighted"),
    }
    assert base_rate_behind(row) == pytest.approx(0.23, abs=1e-6)
    assert np.isnan(base_rate_behind({**row, "kappa": 0.9})), (
        "no confusion matrix has these figures"
    )


def test_the_base_rate_of_table_2() -> None:
    rates, accuracies = [], []
    for row in published_rows("courtroom", "table2_tabular_leaderboard").values():
        if set(DETERMINING) <= set(row):
            accuracies.append(row["accuracy"])
            rate = base_rate_behind(row)
            if not np.isnan(rate):
                rates.append(rate)
    median_rate, best_accuracy = median(rates), max(accuracies)
    (finding,) = FINDINGS["courtroom/table2_tabular_leaderboard"]
    assert f"{len(rates)} of {len(accuracies)} models" in finding
    assert (
        f"{min(rates):.1%} to {max(rates):.1%} of the cases (median {median_rate:.1%})"
        in finding.replace(" %", "%")
    )
    assert (
        f"right in {1 - median_rate:.1%} of cases; the best published accuracy is"
        f" {best_accuracy:.1%}" in finding.replace(" %", "%")
    )


def test_the_finding_states_the_number_of_cases_of_tabpfn() -> None:
    row = published_rows("courtroom", "table3_tabpfn")["tabpfn"]
    cases = sum(row[name] for name in ("tn", "fp", "fn", "tp"))
    assert (
        f"{cases:.0f} cases, {100 * cases / 1412:.0f} % of its 1412"
        in FINDINGS["courtroom/table3_tabpfn"][0]
    )


def averages_possible(accuracy: float, f1: float, cases: int, positives: range) -> set[str]:
    """Return the averages of F1 that are possible for an accuracy and an F1 of two digits."""
    possible = set()
    for actual in positives:
        hits, rejections = np.arange(actual + 1)[:, None], np.arange(cases - actual + 1)[None, :]
        misses = cases - hits - rejections
        positive, negative = (
            2 * correct / np.maximum(2 * correct + misses, 1) for correct in (hits, rejections)
        )
        averages = {
            "binary": positive,
            "macro": (positive + negative) / 2,
            "weighted": (actual * positive + (cases - actual) * negative) / cases,
        }
        fits = np.abs((hits + rejections) / cases - accuracy) <= 0.005 + 1e-9
        for name, values in averages.items():
            if (fits & (np.abs(values - f1) <= 0.005 + 1e-9)).any():
                possible.add(name)
    return possible


@pytest.mark.parametrize(
    ("accuracy", "f1", "possible"),
    [(0.7, 0.0, {"binary"}), (1.0, 1.0, {"binary", "macro", "weighted"}), (0.7, 0.99, set())],
)
def test_the_possible_averages_of_a_printed_f1_are_computed(
    accuracy: float, f1: float, possible: set[str]
) -> None:
    assert averages_possible(accuracy, f1, 100, range(28, 32)) == possible


def test_the_possible_averages_of_f1_in_table_4() -> None:
    rows = published_rows("courtroom", "table4_prompting").values()
    pairs = []
    for row in rows:
        for name, value in row.items():
            if name.endswith("accuracy"):
                f1 = row[name.replace("accuracy", "f1")]
                # 39 to 47 of 150 cases are 26 % to 31 %.
                pairs.append(averages_possible(value, f1, 150, range(39, 48)))
    averages = Counter(chain.from_iterable(pairs))
    counts = ", ".join(
        f"{name} F1 for {averages[name]}" for name in ("binary", "macro", "weighted")
    )
    (finding,) = FINDINGS["courtroom/table4_prompting"]
    assert f"the {len(pairs)} published pairs" in finding and counts in finding


def test_the_finding_on_f1_in_table_6_and_precision_in_table_7() -> None:
    f1, counts = (
        published_rows("courtroom", "table6_commercial"),
        published_rows("courtroom", "table7_commercial_confusion"),
    )
    deviating_rows = [row for row in f1 if not equal(f1[row]["f1"], counts[row]["precision"])]
    names = ", ".join(f"{row.replace('/', ' ')} ({f1[row]['f1']:.2f})" for row in deviating_rows)
    phrase = f"in {len(f1) - len(deviating_rows)} of {len(f1)} rows; the others are {names}. "
    assert phrase in FINDINGS["courtroom/table6_commercial"][0]
    assert (
        FINDINGS["courtroom/table6_commercial"][0]
        == FINDINGS["courtroom/table7_commercial_confusion"][-1]
    )


def test_the_findings_on_the_columns_of_table_7() -> None:
    accuracies, counts = (
        published_rows("courtroom", "table6_commercial"),
        published_rows("courtroom", "table7_commercial_confusion"),
    )
    as_printed = exchanged = ratios = 0
    for name, row in counts.items():
        accuracy = accuracies[name]["accuracy"]
        as_printed += equal((row["tp"] + row["tn"]) / 100, accuracy)
        exchanged += equal((row["tp"] + row["fp"]) / 100, accuracy)
        ratios += equal(row["tp"] / (row["tp"] + row["fp"]), row["precision"])
        assert row["tp"] + row["fn"] == 71
    headings, positives, ratio, _ = FINDINGS["courtroom/table7_commercial_confusion"]
    assert (
        f"in {as_printed} of {len(counts)} rows,"
        f" and (TP + FP) / 100 in {exchanged} of {len(counts)}:" in headings
    )
    assert positives.startswith("TP + FN is 71 of 100 cases in every row.")
    assert f"in {ratios} of {len(counts)} rows" in ratio


def test_the_correlation_of_accuracy_and_f1_in_the_paper() -> None:
    prompts, debates = (
        published_rows("courtroom", "table4_prompting"),
        published_rows("courtroom", "table5_courtroom"),
    )
    methods = {
        "zero-shot": "zero_shot_",
        "chain of thought": "cot_",
        "n-shot chain of thought": "n_shot_cot_",
    }

    def correlation(rows: Sequence[Mapping[str, float]], prefix: str) -> float:
        pairs = [(row[f"{prefix}accuracy"], row[f"{prefix}f1"]) for row in rows]
        return float(np.corrcoef(np.array(pairs).T)[0, 1])

    prompt_rows = list(prompts.values())
    correlations = {name: correlation(prompt_rows, prefix) for name, prefix in methods.items()}
    correlations["courtroom debate"] = correlation(list(debates.values()), "")
    assert min(correlations, key=lambda name: correlations[name]) == "courtroom debate"
    assert (
        ", ".join(f"{name} {value:.2f}" for name, value in correlations.items())
        in FINDINGS["courtroom/stability"][0]
    )


def test_the_accuracy_before_debate_implied_by_table_5_of_debate_feedback() -> None:
    rows = published_rows("feedback", "table5_smoothing")
    initial_accuracies = []
    for row in rows.values():
        gain = (row["corrections"] - row["degradations"]) / 3000
        initial_accuracies.append(row["accuracy"] - gain)
    phrase = (
        f"imply {initial_accuracies[0]:.4f} without and {initial_accuracies[1]:.4f} with smoothing"
    )
    assert list(rows) == ["without_smoothing", "with_smoothing"]
    assert phrase in FINDINGS["feedback/table5_smoothing"][0]
