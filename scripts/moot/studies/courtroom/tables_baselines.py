"""Tables 2, 3 and 8 of the paper: trained models on the typed features."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from moot.core.types import Json, JsonObject
from moot.report import table
from moot.report.columns import Columns
from moot.report.content import TableContent
from moot.report.measurement import NOT_MEASURED, Measurement
from moot.report.needs import has_baselines
from moot.report.published import (
    comparison_row,
    comparison_table,
    published_rows,
    published_values,
    repeated_baseline_values,
    unrepeated_values,
)
from moot.report.study_results import StudyResults
from moot.studies.courtroom.runs import STUDY

Board = Mapping[str, Json]
LEADERBOARD, TABPFN = "table2_tabular_leaderboard", "table3_tabpfn"

LEADERBOARD_METRICS = {
    "accuracy": "accuracy",
    "auc": "AUC",
    "recall_weighted": "recall, weighted",
    "precision_weighted": "precision, weighted",
    "f1_weighted": "F1, weighted",
    "f1_binary": "F1, binary",
    "f1_macro": "F1, macro",
    "kappa": "Cohen's kappa",
    "mcc": "Matthews correlation",
    "brier": "Brier score",
}


@table(STUDY, LEADERBOARD, "Table 2: trained models", needs=(has_baselines,))
def leaderboard(results: StudyResults) -> TableContent:
    """Trained models on the typed features: published (paper, Table 2), ours in 10-fold
    cross-validation on the training split, and ours on the test split.
    """
    rows: list[JsonObject] = []
    for (model, metric), value in unrepeated_values(results, LEADERBOARD).items():
        if metric in LEADERBOARD_METRICS:
            keys = {"data": "", "model": model, "in words": "", "status": "not run as published"}
            rows.append(keys | _leaderboard_cells({}, metric, value))
    for keys, dataset, board in _iterate_baselines(results, published_rows(results, LEADERBOARD)):
        model = keys["model"]
        published = repeated_baseline_values(results, LEADERBOARD, dataset, model)
        rows += [
            keys | _leaderboard_cells(board, metric, published.get((model, metric)))
            for metric in LEADERBOARD_METRICS
        ]
    return _LEADERBOARD.table(
        rows,
        [
            (
                "The paper's figures are cross-validated values of PyCaret, with recall, precision"
                " and F1 weighted by support (hence recall = accuracy). The difference is between"
                " the two cross-validated values. It has no interval, because the paper does not"
                " state the number of cases. No model was fitted on the test split; its intervals"
                " are by case."
            ),
            (
                "The paper states neither the folds nor the split of its cross-validation; the"
                " script that its authors released has five folds on 80 % of the cases. Ours has"
                " ten folds on the training split, 60 % of the cases."
            ),
            (
                "Fitting times differ from run to run and are not in this table; results/baselines/"
                " has them."
            ),
        ],
    )


_LEADERBOARD = (
    Columns()
    .keys("data", "model", "in words")
    .plain("metric")
    .published("published")
    .ours("ours (cross-validated)")
    .difference("difference")
    .estimate("ours (test)", heading="95 % interval (test)")
    .counts("n (training)", "n (test)")
    .plain("status")
    .short_form(
        "data",
        "model",
        "metric",
        "published",
        "ours (cross-validated)",
        "difference",
        "ours (test)",
        "95 % interval (test)",
    )
)


def _iterate_baselines(
    results: StudyResults, order: list[str]
) -> Iterator[tuple[dict[str, str], str, Board]]:
    """Iterate over the baselines of each data set, the paper's baselines first.

    Yields:
        The keys of a row, the data set, and the leaderboard's rows of the baseline by evaluation.
    """
    for data, board in results.baselines.items():
        rows_by_model: dict[str, dict[str, Json]] = {}
        for row in board.to_dict("records"):
            rows_by_evaluation = rows_by_model.setdefault(str(row["baseline"]), {})
            rows_by_evaluation[str(row["evaluation"])] = row
        published_models = [name for name in order if name in rows_by_model]
        for model in dict.fromkeys([*published_models, *sorted(rows_by_model)]):
            rows = rows_by_model[model]
            statuses = sorted({str(row["status"]) for row in rows.values()})
            titles = dict.fromkeys(str(row["title"]) for row in rows.values())
            keys = {"data": results.data_label(data), "model": model, "in words": "; ".join(titles)}
            yield keys | {"status": "; ".join(statuses)}, data, rows


def _leaderboard_cells(rows: Board, metric: str, published: float | None) -> JsonObject:
    validation_row, test_row = rows.get("cross_validation", {}), rows.get("test", {})
    published_value = np.nan if published is None else published
    our_value = validation_row.get(metric, np.nan)
    return {
        "metric": LEADERBOARD_METRICS[metric],
        "published": published_value,
        "ours (cross-validated)": our_value,
        "difference": our_value - published_value,
        "ours (test)": (
            test_row.get(metric, np.nan),
            test_row.get(f"{metric}_low", np.nan),
            test_row.get(f"{metric}_high", np.nan),
        ),
        "n (training)": validation_row.get("n", pd.NA),
        "n (test)": test_row.get("n", pd.NA),
    }


TABPFN_METRICS = {
    "auc": ("auc", "AUC"),
    "accuracy": ("accuracy", "accuracy"),
    "recall": ("recall_binary", "recall, binary"),
    "f1": ("f1_binary", "F1, binary"),
    "tn": ("tn", "NO predicted as NO (cases)"),
    "fp": ("fp", "NO predicted as YES (cases)"),
    "fn": ("fn", "YES predicted as NO (cases)"),
    "tp": ("tp", "YES predicted as YES (cases)"),
}
"""The column of the leaderboard and the heading for each column of the paper."""


@table(STUDY, TABPFN, "Table 3: TabPFN", loaders=("nlsy97",))
def tabpfn(results: StudyResults) -> TableContent:
    """TabPFN on the typed features: published (paper, Table 3), ours on the test split, and their
    difference.
    """
    rows = []
    for (_, metric), value in unrepeated_values(results, TABPFN).items():
        keys = {"data": "", "metric": TABPFN_METRICS[metric][1]}
        rows.append(comparison_row(keys, value, NOT_MEASURED))
    reasons = []
    for data, board in results.baselines.items():
        is_test = (board["baseline"] == "tabpfn") & (board["evaluation"] == "test")
        test_rows = board[is_test].to_dict("records")
        our_row: Json = test_rows[0] if test_rows else {"status": "not run"}
        reasons += [f"TabPFN on {data}: {our_row['status']}."]
        published = repeated_baseline_values(results, TABPFN, data, "tabpfn")
        for metric, (column, heading) in TABPFN_METRICS.items():
            n = our_row.get("n", np.nan)
            measurement = Measurement(
                our_row.get(column, np.nan),
                our_row.get(f"{column}_low", np.nan),
                our_row.get(f"{column}_high", np.nan),
                n,
                n_cases=n,
            )
            keys = {"data": results.data_label(data), "metric": heading}
            rows.append(comparison_row(keys, published.get(("tabpfn", metric)), measurement))
    reading_note = "Recall and F1 are binary, with rearrest as the positive label."
    return comparison_table(rows, ("data", "metric"), [reading_note, *reasons])


@table(
    STUDY,
    "table8_openml_medians",
    "Table 8: tabular models on other data (for reference)",
    loaders=("nlsy97",),
)
def openml_medians(results: StudyResults) -> TableContent:
    """Medians over 48 OpenML data sets that the paper quotes (Table 8); moot does not compute
    them.
    """
    values = published_values(results, "table8_openml_medians")
    columns = {
        "auc": "published median AUC",
        "f1": "published median F1",
        "accuracy": "published median accuracy",
    }
    rows = []
    for model in published_rows(results, "table8_openml_medians"):
        row: JsonObject = {"model": model}
        for metric, column in columns.items():
            row[column] = values.get((model, metric), np.nan)
        rows.append(row)
    note = (
        "The paper quotes these from other work, on other data, and does not name the F1 average."
    )
    return Columns().plain("model").published(*columns.values()).table(rows, [note])
