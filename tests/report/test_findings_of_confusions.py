"""Recompute the findings of `data/published/findings.csv` that follow from confusion matrices."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, product
from math import ceil, floor
from statistics import median

import numpy as np
from scipy.optimize import least_squares

from paper_items import ITEMS
from published_findings import FINDINGS, equal, published_rows

NAMES = {row.key: row.heads[0] for row in ITEMS["decision_conference/table1"].rows}
"""Models as the paper names them."""
DETERMINING = ("accuracy", "kappa", "mcc", "precision_weighted", "f1_weighted")


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


def test_the_base_rate_of_table_2() -> None:
    rates, accuracies, excepted = [], [], []
    for model, row in published_rows("courtroom", "table2_tabular_leaderboard").items():
        if set(DETERMINING) <= set(row):
            accuracies.append(row["accuracy"])
            rate = base_rate_behind(row)
            if np.isnan(rate):
                excepted.append(model)
            else:
                rates.append(rate)
    median_rate, best_accuracy = median(rates), max(accuracies)
    finding, *_ = FINDINGS["courtroom/table2"]
    assert f"{len(rates)} of {len(accuracies)} models, all but {excepted[0]}," in finding
    assert (
        f"{min(rates):.1%} to {max(rates):.1%} of the cases (median {median_rate:.1%})"
        in finding.replace(" %", "%")
    )
    assert (
        f"right in {1 - median_rate:.1%} of cases; the best published accuracy is"
        f" {best_accuracy:.1%}" in finding.replace(" %", "%")
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
    finding, *_ = FINDINGS["courtroom/table4"]
    assert f"the {len(pairs)} published pairs" in finding and counts in finding


def f1_of_counts(row: Mapping[str, float]) -> tuple[float, float, float, float]:
    """Return F1 of rearrest and of NO, macro and weighted, with TN and FP exchanged back."""
    no, missed, caught, alarms = row["tp"], row["tn"], row["fp"], row["fn"]
    f1_no = 2 * no / (2 * no + missed + alarms)
    f1_rearrest = 2 * caught / (2 * caught + missed + alarms)
    size = no + missed + caught + alarms
    weighted = (f1_no * (no + alarms) + f1_rearrest * (missed + caught)) / size
    return f1_rearrest, f1_no, (f1_rearrest + f1_no) / 2, weighted


def test_the_finding_on_f1_in_table_6_and_precision_in_table_7() -> None:
    f1, counts = (
        published_rows("courtroom", "table6_commercial"),
        published_rows("courtroom", "table7_commercial_confusion"),
    )
    precisions, of_rearrest, unexplained = [], [], []
    for row in f1:
        value, possible = f1[row]["f1"], f1_of_counts(counts[row])
        name = f"{row.replace('/', ' ').replace('n_shot_cot', 'n-shot')} ({value:.2f})"
        if equal(value, counts[row]["precision"]):
            precisions.append(name)
            assert not any(equal(each, value) for each in possible)
        elif equal(value, possible[0]):
            of_rearrest.append(name)
        else:
            unexplained.append((name, possible))
    finding = FINDINGS["courtroom/table6"][0]
    assert f"in {len(precisions)} of {len(f1)} rows" in finding
    assert f"In the rows {', '.join(of_rearrest)} it is the F1 of rearrest" in finding
    names = ", ".join(name for name, _ in unexplained)
    first, second = (possible for _, possible in unexplained)
    ours = f"{first[0]:.2f} and {second[0]:.2f} for rearrest, {first[1]:.2f} and {second[1]:.2f}"
    assert f"The rows {names} fit neither: the counts give {ours} for NO." in finding
    assert finding == FINDINGS["courtroom/table7"][-1]


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
    headings, positives, ratio, _ = FINDINGS["courtroom/table7"]
    assert (
        f"in {as_printed} of {len(counts)} rows,"
        f" and (TP + FP) / 100 in {exchanged} of {len(counts)}:" in headings
    )
    assert positives.startswith("TP + FN is 71 of 100 cases in every row.")
    assert f"in {ratios} of {len(counts)} rows" in ratio


@dataclass(frozen=True)
class VastRow:
    """A model's printed values on VAST: of Table 1 macro averages, of Table 2 F1 by class."""

    accuracy: float
    precision: float
    recall: float
    f1: float
    f1_by_class: tuple[float, float, float]
    neutral_rounding: float


def vast_rows() -> dict[str, VastRow]:
    """Return the models of Table 1 that have a whole row."""
    by_class = published_rows("stance", "table2_vast_by_class")
    rows = {}
    for model, row in published_rows("stance", "table1_vast").items():
        if "accuracy" in row:
            of_class = by_class[model]
            f1_by_class = (of_class["f1_pro"], of_class["f1_con"], of_class["f1_neutral"])
            # A zero is printed with one digit.
            rounding = 0.0005 if of_class["f1_neutral"] else 0.05
            values = [row[name] for name in ("accuracy", "precision", "recall", "f1")]
            rows[model] = VastRow(*values, f1_by_class, rounding)
    return rows


def counts_predicted(hits: int, size: int, f1: float, rounding: float, cases: int) -> range:
    """Return how many answers may name a class of `size`, by its hits and its printed F1."""
    if hits == 0:
        return range(cases + 1) if f1 <= rounding else range(0)
    low = 2 * hits / (f1 + rounding) - size
    high = 2 * hits / (f1 - rounding) - size if f1 > rounding else cases
    return range(max(hits, ceil(low - 1e-6)), min(cases, floor(high + 1e-6)) + 1)


def has_confusion_matrix(row: VastRow, sizes: tuple[int, int, int]) -> bool:
    """Whether some confusion matrix of pro, con and neutral cases gives all values of a row.

    The values follow from the hits and the number of answers of each class. Every case has an
    answer.
    """
    rounding = 0.0005 + 1e-9
    pro, con, neutral = sizes
    cases = sum(sizes)
    for hits in product(range(pro + 1), range(neutral + 1)):
        other_hits = sum(hits)
        low, high = (row.accuracy - rounding) * cases, (row.accuracy + rounding) * cases
        for con_hits in range(
            max(0, ceil(low) - other_hits), min(con, floor(high) - other_hits) + 1
        ):
            class_hits = (hits[0], con_hits, hits[1])
            recalls = [hit / size for hit, size in zip(class_hits, sizes, strict=True)]
            if abs(sum(recalls) / 3 - row.recall) <= rounding and _has_answer_counts(
                row, sizes, class_hits
            ):
                return True
    return False


def _has_answer_counts(
    row: VastRow, sizes: tuple[int, int, int], hits: tuple[int, int, int]
) -> bool:
    rounding, cases = 0.0005 + 1e-9, sum(sizes)
    pro_f1, con_f1, neutral_f1 = row.f1_by_class
    pro_counts = counts_predicted(hits[0], sizes[0], pro_f1, rounding, cases)
    con_counts = counts_predicted(hits[1], sizes[1], con_f1, rounding, cases)
    for pro_count, con_count in product(pro_counts, con_counts):
        answers = (pro_count, con_count, cases - pro_count - con_count)
        if answers[2] < hits[2]:
            continue
        triples = list(zip(hits, answers, sizes, strict=True))
        f1 = [2 * hit / max(count + size, 1) for hit, count, size in triples]
        precision = sum(hit / max(count, 1) for hit, count, _ in triples) / 3
        if (
            abs(f1[2] - neutral_f1) <= row.neutral_rounding + 1e-9
            and abs(sum(f1) / 3 - row.f1) <= rounding
            and abs(precision - row.precision) <= rounding
        ):
            return True
    return False


def test_the_class_sizes_of_vast() -> None:
    counts = published_rows("stance", "text_vast_test")["test"]
    sizes = (int(counts["pro"]), int(counts["con"]), int(counts["neutral"]))
    sums, matrices = FINDINGS["decision_conference/table1"]
    assert f"({sizes[0]} pro, {sizes[1]} con, {sizes[2]} neutral) add up to {sum(sizes)}," in sums
    assert f"not to its {counts['examples']:.0f} examples" in sums
    rows = vast_rows()
    impossible = [NAMES[name] for name, row in rows.items() if not has_confusion_matrix(row, sizes)]
    assert f"for {len(impossible)} of the {len(rows)} models with a whole row: " in matrices
    assert f": {', '.join(impossible)}. Under" in matrices
    nearest = (326, 348, 2)
    assert f"has {nearest[0]} pro, {nearest[1]} con, {nearest[2]} neutral" in sums
    impossible = [
        NAMES[name] for name, row in rows.items() if not has_confusion_matrix(row, nearest)
    ]
    assert matrices.endswith(f"there is none for {', '.join(impossible)}.")
