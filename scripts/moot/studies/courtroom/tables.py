"""The paper's Tables 4 to 7: published value, ours, their difference with its interval, n and n invalid."""

from collections.abc import Iterator, Mapping

import numpy as np

from moot.core.types import Fields
from moot.report import table
from moot.report.columns import OURS, PUBLISHED, Columns
from moot.report.content import StudyResults, TableContent
from moot.report.published import (
    NOT_MEASURED,
    Published,
    Values,
    beside,
    compared,
    comparison,
    measured,
    not_repeated,
    published_rows,
    published_table,
    share_valid,
)
from moot.studies.courtroom.runs import DEBATE, METHODS, PROMPTS, STUDY, Run, list_runs, published_cases, reference_runs

KEYS = ("method", "model", "experiment", "data", "metric")
TABLE7 = "table7_commercial_confusion"

# Heading, metric and average of ours, and what the paper's column is called in the published figures.
SHOWN = (
    ("accuracy", "accuracy", "", "accuracy"),
    ("accuracy, invalid = wrong", "accuracy_invalid_wrong", "", ""),
    ("F1, binary", "f1", "binary", "f1"),
    ("F1, binary, invalid = wrong", "f1_invalid_wrong", "binary", ""),
    ("F1, macro", "f1", "macro", ""),
    ("F1, weighted", "f1", "weighted", ""),
)

PAPER_NOTES = (
    "The paper does not name the average of its F1. It is compared with our binary F1, positive = the outcome that is "
    "predicted (rearrest): of the usual averages only this one gives the 0.00 that Table 6 prints for a model that "
    "always answered NO.",
    "References are computed on the cases evaluated here: always the most frequent class, and a coin with the sample's "
    "base rate (expected values).",
)


@table(STUDY, "table4_prompting", "Table 4: single prompts", protocols=PROMPTS)
def prompting(results: StudyResults) -> TableContent:
    """Accuracy and F1 of single-agent prompting by method and model: published (paper, Table 4), ours, their
    difference.
    """
    commercial = {row.split("/")[0] for row in published_rows(results, "table6_commercial")}
    runs = [run for run in list_runs(results, *PROMPTS) if run.model not in commercial]
    rows = _model_rows(results, "table4_prompting", runs)
    return comparison(rows, KEYS, [*_averages(results), *PAPER_NOTES])


@table(STUDY, "table5_courtroom", "Table 5: courtroom debate")
def debate(results: StudyResults) -> TableContent:
    """Accuracy and F1 of the courtroom debate by model: published (paper, Table 5), ours, their difference."""
    return comparison(_model_rows(results, "table5_courtroom", list_runs(results, DEBATE)), KEYS, PAPER_NOTES)


@table(STUDY, "table6_commercial", "Table 6: commercial models", protocols=PROMPTS)
def commercial(results: StudyResults) -> TableContent:
    """Accuracy and F1 of commercial models by prompt: published (paper, Table 6), ours, their difference."""
    models = {row.split("/")[0] for row in published_rows(results, "table6_commercial")}
    runs = [run for run in list_runs(results, *PROMPTS) if run.model in models]
    notes = (*_precision_printed_as_f1(results), *PAPER_NOTES)
    return comparison(_model_rows(results, "table6_commercial", runs), KEYS, notes)


def _by_method(values: Values) -> dict[tuple[str, str], dict[str, Published]]:
    """(method, model) to accuracy and F1, from the rows and columns of Tables 4, 5 and 6."""
    found: dict[tuple[str, str], dict[str, Published]] = {}
    for (row, column), value in values.items():
        model, _, prompt = row.partition("/")  # Table 6: haiku-3.5/cot
        of_column, _, metric = column.rpartition("_")  # Table 4: n_shot_cot_f1
        found.setdefault((METHODS[prompt or of_column or DEBATE], model), {})[metric] = value
    return found


def _model_rows(results: StudyResults, table: str, runs: list[Run]) -> Iterator[Fields]:
    """Published values that nothing repeats, in the paper's order, then our runs, then the references."""
    alone = _by_method(not_repeated(results, table))
    ours: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        ours.setdefault((run.method, run.model), []).append(run)
    methods = [method for method in METHODS.values() if any(method == key[0] for key in (*alone, *ours))]
    for method in methods:
        for key in dict.fromkeys([key for key in (*alone, *ours) if key[0] == method]):
            stated = alone.get(key, {})
            for heading, _, _, column in SHOWN:
                if column in stated:
                    yield compared({"method": (*key, "", "", heading)}, stated[column], NOT_MEASURED)
            for run in ours.get(key, []):
                theirs = _by_method(beside(results, table, run.experiment, run.model))
                yield from _run_rows(results, run, theirs.get(key, {}))
    for run in reference_runs(runs):
        yield from _run_rows(results, run, {})


def _run_rows(results: StudyResults, run: Run, theirs: Mapping[str, Published]) -> Iterator[Fields]:
    for heading, metric, average, column in SHOWN:
        value = measured(results, run.experiment, run.model, metric, average)
        if value is not NOT_MEASURED:
            yield compared({"method": (*run.names, heading)}, theirs.get(column), value)
            if metric == "accuracy" and run.method != "reference":
                yield compared({"method": (*run.names, "share of valid answers")}, None, share_valid(value))


def possible_averages(accuracy: float, f1: float, cases: int, positives: range, half: float = 0.005) -> set[str]:
    """Which averages of F1 some confusion counts allow for a printed accuracy and F1.

    Args:
        accuracy, f1: as printed, rounded to two digits.
        cases: how many cases were evaluated.
        positives: the numbers of positive cases to try.
        half: half a unit of the last printed digit.
    """
    found = set()
    for actual in positives:
        hits, rejections = np.arange(actual + 1)[:, None], np.arange(cases - actual + 1)[None, :]
        wrong = cases - hits - rejections
        positive, negative = (2 * right / np.maximum(2 * right + wrong, 1) for right in (hits, rejections))
        averages = {
            "binary": positive,
            "macro": (positive + negative) / 2,
            "weighted": (actual * positive + (cases - actual) * negative) / cases,
        }
        fits = np.abs((hits + rejections) / cases - accuracy) <= half + 1e-9
        found |= {name for name, values in averages.items() if (fits & (np.abs(values - f1) <= half + 1e-9)).any()}
    return found


def _averages(results: StudyResults) -> Iterator[str]:
    """Which averages Table 4's pairs of accuracy and F1 could be, by arithmetic."""
    values = published_table(results, "table4_prompting")
    stated = published_cases(results, "zero_shot")
    if not values or np.isnan(stated):
        return
    cases, least, most = int(stated), 0.26, 0.31  # shares that samples of a 28 % base rate come near
    positives = range(round(least * cases), round(most * cases) + 1)
    pairs = [
        possible_averages(accuracy, values[row, name.replace("accuracy", "f1")], cases, positives)
        for (row, name), accuracy in values.items()
        if name.endswith("accuracy")
    ]
    if pairs:
        counts = ", ".join(
            f"{average} F1 for {sum(average in pair for pair in pairs)}" for average in ("binary", "macro", "weighted")
        )
        yield (
            f"Arithmetic on the {len(pairs)} published pairs of accuracy and F1 ({cases} cases, {least:.0%} to "
            f"{most:.0%} positive): the printed F1 can be {counts} of them. So it is not the weighted average of Table "
            "2."
        )


@table(STUDY, TABLE7, "Table 7: confusion counts of commercial models", protocols=PROMPTS)
def commercial_confusion(results: StudyResults) -> TableContent:
    """Confusion counts of commercial models as printed (paper, Table 7), what follows from them, and ours."""
    printed = _printed_counts(results)
    rows = []
    for row, counts in printed.items():
        model, prompt = row.split("/")
        ours: list[Run | None] = [
            run
            for run in list_runs(results, prompt)
            if any(name == row for name, _ in beside(results, TABLE7, run.experiment, run.model))
        ]
        rows += [
            {"model": model, "method": METHODS[prompt], **_put_right(counts), **_our_counts(results, run)}
            for run in ours or [None]
        ]
    matched = (
        "`ours` is filled where a run repeats the paper's experiment with that model. `NO as YES` counts "
        "cases without rearrest that were predicted to have one."
    )
    return _CONFUSION.table(rows, [*_contradictions(printed), *_precision_printed_as_f1(results), matched])


_CELLS = {"NO as NO": "tn", "YES as YES": "tp", "YES as NO": "fn", "NO as YES": "fp"}
"""Our counts by their meaning, so that no one need ask which class is positive."""
_RIGHT = ("accuracy", "precision of NO", "F1 of NO", "F1 of YES")
_CONFUSION = (
    Columns()
    .keys("model")
    .plain("method")
    .published("printed accuracy", "printed precision", digits=".2f")
    .counts("printed TP", "printed TN", "printed FP", "printed FN", role=PUBLISHED)
    .difference(*(f"put right: {name}" for name in _RIGHT), digits=".2f")
    .counts(*(f"ours: {meaning}" for meaning in _CELLS), role=OURS)
    .counts("n", "n invalid")
    .short_form("model", "method", "printed accuracy", "printed precision", *(f"put right: {name}" for name in _RIGHT))
)


def _printed_counts(results: StudyResults) -> dict[str, dict[str, float]]:
    """Table 7's row to its columns, with the accuracy that Table 6 prints for the same row."""
    accuracy = published_table(results, "table6_commercial")
    rows: dict[str, dict[str, float]] = {}
    for (row, metric), value in published_table(results, TABLE7).items():
        rows.setdefault(row, {"accuracy": accuracy[row, "accuracy"]})[metric] = value
    return rows


def _put_right(counts: Mapping[str, float]) -> dict[str, tuple[float, ...]]:
    """The printed columns, then what they give once TN and FP are exchanged; positive = NO there, as the counts say."""
    tp, tn, fp, fn = counts["tp"], counts["fp"], counts["tn"], counts["fn"]
    return {
        "printed accuracy": tuple(counts[name] for name in ("accuracy", "precision", "tp", "tn", "fp", "fn")),
        "put right: accuracy": (
            (tp + tn) / (tp + tn + fp + fn),
            tp / (tp + fp) if tp + fp else 0.0,
            2 * tp / (2 * tp + fp + fn) if tp else 0.0,
            2 * tn / (2 * tn + fp + fn) if tn else 0.0,
        ),
    }


def _our_counts(results: StudyResults, run: Run | None) -> dict[str, tuple[float, ...]]:
    if run is None:
        return {}
    found = [measured(results, run.experiment, run.model, name, "binary") for name in _CELLS.values()]
    return {f"ours: {next(iter(_CELLS))}": (*(count.value for count in found), found[0].n, found[0].n_invalid)}


def _contradictions(printed: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """What the printed counts say about each other, counted."""
    rows = list(printed.values())
    if not rows:
        return
    as_printed = sum(_equal((row["tp"] + row["tn"]) / 100, row["accuracy"]) for row in rows)
    exchanged = sum(_equal((row["tp"] + row["fp"]) / 100, row["accuracy"]) for row in rows)
    ratios = sum(_equal(row["tp"] / (row["tp"] + row["fp"]), row["precision"]) for row in rows)
    positives = sorted({int(row["tp"] + row["fn"]) for row in rows})
    yield (
        f"The printed accuracy is (TP + TN) / 100 of the printed columns in {as_printed} of {len(rows)} rows, and "
        f"(TP + FP) / 100 in {exchanged} of {len(rows)}: the column headings TN and FP are exchanged."
    )
    yield (
        f"TP + FN is {' or '.join(map(str, positives))} of 100 cases in every row. Only the outcome NO (72 % of the "
        "data) is so frequent: in these counts the positive class is NO, not rearrest."
    )
    yield (
        f'The printed "precision" is TP / (TP + FP) of the columns as printed in {ratios} of {len(rows)} rows. With '
        "the headings put right that is TP / (TP + TN), the share of NO among correct answers, which is no precision."
    )


def _precision_printed_as_f1(results: StudyResults) -> Iterator[str]:
    """How many of Table 6's F1 are Table 7's "precision"."""
    printed = published_table(results, "table6_commercial")
    f1 = {row: value for (row, metric), value in printed.items() if metric == "f1"}
    precision = {row: counts["precision"] for row, counts in _printed_counts(results).items()}
    same = [row for row in f1 if row in precision and _equal(f1[row], precision[row])]
    others = [f"{row.replace('/', ' ')} ({f1[row]:.2f})" for row in f1 if row not in same]
    if f1:
        yield (
            f"Table 6 prints as F1 what Table 7 prints as precision in {len(same)} of {len(f1)} rows; the others are "
            f"{', '.join(others)}. Hence the published F1 of these models compares with nothing."
        )


def _equal(value: float, printed: float) -> bool:
    return abs(value - printed) <= 0.005 + 1e-9
