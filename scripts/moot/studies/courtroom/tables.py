"""Tables 4 to 7 of AgenticSimLaw: published and own values, their difference and the counts."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from moot.core.types import Fields
from moot.report import table
from moot.report.columns import OURS, PUBLISHED, Columns
from moot.report.content import TableContent
from moot.report.measurement import NOT_MEASURED
from moot.report.published import (
    Published,
    Values,
    comparison_row,
    comparison_table,
    published_rows,
    published_values,
    repeated_values,
    share_valid,
    unrepeated_values,
)
from moot.report.study_results import StudyResults, reference_runs
from moot.studies.courtroom.runs import DEBATE, METHODS, PROMPTS, STUDY, Run, list_runs

KEYS = ("method", "model", "experiment", "data", "metric")
TABLE7 = "table7_commercial_confusion"


class Metric(NamedTuple):
    """A metric of the tables and its column in the published values, "" if none is published."""

    heading: str
    name: str
    average: str = ""
    published_column: str = ""


METRICS = (
    Metric("accuracy", "accuracy", published_column="accuracy"),
    Metric("accuracy, invalid = wrong", "accuracy_invalid_wrong"),
    Metric("F1, binary", "f1", "binary", published_column="f1"),
    Metric("F1, binary, invalid = wrong", "f1_invalid_wrong", "binary"),
    Metric("F1, macro", "f1", "macro"),
    Metric("F1, weighted", "f1", "weighted"),
)

PAPER_NOTES = (
    (
        "The paper does not name the average of its F1. It is compared with the binary F1 of the"
        " predicted outcome (rearrest), because only this average gives the 0.00 that Table 6"
        " prints for a model that always answered NO."
    ),
    (
        "The references are computed on the cases evaluated here: the most frequent class, and a"
        " coin with the sample's base rate (expected values)."
    ),
)


@table(STUDY, "table4_prompting", "Table 4: single prompts", protocols=PROMPTS)
def prompting(results: StudyResults) -> TableContent:
    """Accuracy and F1 of single prompts by method and model, compared with Table 4 of the paper."""
    commercial = {row.split("/")[0] for row in published_rows(results, "table6_commercial")}
    runs = [run for run in list_runs(results, *PROMPTS) if run.model not in commercial]
    rows = _model_rows(results, "table4_prompting", runs)
    return comparison_table(rows, KEYS, PAPER_NOTES)


@table(STUDY, "table5_courtroom", "Table 5: courtroom debate")
def debate(results: StudyResults) -> TableContent:
    """Accuracy and F1 of the courtroom debate by model, compared with Table 5 of the paper."""
    rows = _model_rows(results, "table5_courtroom", list_runs(results, DEBATE))
    return comparison_table(rows, KEYS, PAPER_NOTES)


@table(STUDY, "table6_commercial", "Table 6: commercial models", protocols=PROMPTS)
def commercial(results: StudyResults) -> TableContent:
    """Accuracy and F1 of commercial models by prompt, compared with Table 6 of the paper."""
    models = {row.split("/")[0] for row in published_rows(results, "table6_commercial")}
    runs = [run for run in list_runs(results, *PROMPTS) if run.model in models]
    return comparison_table(_model_rows(results, "table6_commercial", runs), KEYS, PAPER_NOTES)


def _group_by_method(values: Values) -> dict[tuple[str, str], dict[str, Published]]:
    """Group the values of Table 4, 5 or 6 by (method, model), then by published column."""
    groups: dict[tuple[str, str], dict[str, Published]] = {}
    for (row, column), value in values.items():
        model, _, prompt = row.partition("/")  # Table 6: haiku-3.5/cot
        column_method, _, metric = column.rpartition("_")  # Table 4: n_shot_cot_f1
        groups.setdefault((METHODS[prompt or column_method or DEBATE], model), {})[metric] = value
    return groups


def _model_rows(results: StudyResults, table: str, runs: list[Run]) -> Iterator[Fields]:
    """Yield the rows of one table: published values without a run, own runs, then references.

    Rows are in the order of the methods, then of the models in the paper.
    """
    unrepeated = _group_by_method(unrepeated_values(results, table))
    our_runs: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        our_runs.setdefault((run.method, run.model), []).append(run)
    for method in METHODS.values():
        keys = [key for key in (*unrepeated, *our_runs) if key[0] == method]
        for key in dict.fromkeys(keys):
            yield from _published_rows(key, unrepeated.get(key, {}))
            for run in our_runs.get(key, []):
                yield from _run_rows(
                    run, _group_by_method(repeated_values(run, table)).get(key, {})
                )
    for run in reference_runs(runs):
        yield from _run_rows(run, {})


def _published_rows(key: tuple[str, str], published: Mapping[str, Published]) -> Iterator[Fields]:
    """Yield the published values of one method and model that no run repeats."""
    method, model = key
    for metric in METRICS:
        if metric.published_column in published:
            cells = {"method": method, "model": model, "experiment": "", "data": ""}
            cells["metric"] = metric.heading
            yield comparison_row(cells, published[metric.published_column], NOT_MEASURED)


def _run_rows(run: Run, published: Mapping[str, Published]) -> Iterator[Fields]:
    """Yield a row for each metric of a run, next to the published values that it repeats."""
    for metric in METRICS:
        value = run.measurement(metric.name, metric.average)
        if value is NOT_MEASURED:
            continue
        cells = {**run.row_keys, "metric": metric.heading}
        yield comparison_row(cells, published.get(metric.published_column), value)
        if metric.name == "accuracy" and run.method != "reference":
            cells = {**run.row_keys, "metric": "share of valid answers"}
            yield comparison_row(cells, None, share_valid(value))


@table(STUDY, TABLE7, "Table 7: confusion counts of commercial models", protocols=PROMPTS)
def commercial_confusion(results: StudyResults) -> TableContent:
    """Confusion counts of commercial models: as printed (paper, Table 7), corrected, and ours."""
    rows: list[Fields] = []
    for row, counts in _printed_counts(results).items():
        model, prompt = row.split("/")
        row_cells: dict[str, object] = {"model": model, "method": METHODS[prompt]}
        for heading, name in _PRINTED.items():
            row_cells[f"printed {heading}"] = counts[name]
        row_cells |= _correct_counts(counts)
        runs = [run for run in list_runs(results, prompt) if _repeats_row(run, row)]
        rows += [row_cells | _our_counts(run) for run in runs] or [row_cells]
    note = (
        "`ours` is filled if a run repeats the paper's experiment with that model. `NO as YES` "
        "counts cases without rearrest that were predicted to have one."
    )
    return _CONFUSION.table(rows, [note])


_PRINTED = {
    "accuracy": "accuracy",
    "precision": "precision",
    "TP": "tp",
    "TN": "tn",
    "FP": "fp",
    "FN": "fn",
}
"""Heading of a printed column to its name in the published values."""
_CELLS = {"NO as NO": "tn", "YES as YES": "tp", "YES as NO": "fn", "NO as YES": "fp"}
"""Meaning of a cell to our metric, so that no reader need ask which class is positive."""
_CORRECTED = ("accuracy", "precision of NO", "F1 of NO", "F1 of YES")
_CONFUSION = (
    Columns()
    .keys("model")
    .plain("method")
    .published("printed accuracy", "printed precision", digits=".2f")
    .counts("printed TP", "printed TN", "printed FP", "printed FN", role=PUBLISHED)
    .difference(*(f"corrected: {name}" for name in _CORRECTED), digits=".2f")
    .counts(*(f"ours: {meaning}" for meaning in _CELLS), role=OURS)
    .counts("n", "n invalid")
    .short_form(
        "model",
        "method",
        "printed accuracy",
        "printed precision",
        *(f"corrected: {name}" for name in _CORRECTED),
    )
)


def _printed_counts(results: StudyResults) -> dict[str, dict[str, float]]:
    """Return the printed columns of each row of Table 7, with the accuracy that Table 6 prints."""
    accuracy = published_values(results, "table6_commercial")
    rows: dict[str, dict[str, float]] = {}
    for (row, metric), value in published_values(results, TABLE7).items():
        rows.setdefault(row, {"accuracy": accuracy[row, "accuracy"]})[metric] = value
    return rows


def _repeats_row(run: Run, row: str) -> bool:
    return any(name == row for name, _ in repeated_values(run, TABLE7))


def _correct_counts(counts: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics that follow from the printed counts once TN and FP are exchanged.

    The positive class of the printed counts is NO.
    """
    tp, tn, fp, fn = counts["tp"], counts["fp"], counts["tn"], counts["fn"]
    return {
        "corrected: accuracy": (tp + tn) / (tp + tn + fp + fn),
        "corrected: precision of NO": tp / (tp + fp) if tp + fp else 0.0,
        "corrected: F1 of NO": 2 * tp / (2 * tp + fp + fn) if tp else 0.0,
        "corrected: F1 of YES": 2 * tn / (2 * tn + fp + fn) if tn else 0.0,
    }


def _our_counts(run: Run) -> dict[str, float]:
    cells = {meaning: run.measurement(name, "binary") for meaning, name in _CELLS.items()}
    counts = {f"ours: {meaning}": count.value for meaning, count in cells.items()}
    any_cell = cells["NO as NO"]
    return counts | {"n": any_cell.n, "n invalid": any_cell.n_invalid}
