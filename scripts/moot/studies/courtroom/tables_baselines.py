"""The paper's Tables 2, 3 and 8: trained models on the typed features, and the leaderboards of this
run.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from moot.core.types import Json
from moot.report import table
from moot.report.columns import Columns
from moot.report.content import NOT_MEASURED, Measurement, StudyResults, TableContent
from moot.report.needs import has_baselines
from moot.report.published import (
    comparison_row,
    comparison_table,
    published_rows,
    published_values,
    repeated_baseline_values,
    unrepeated_values,
)
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
    """Trained models on the typed features: published (paper, Table 2) and ours in 10-fold
    cross-validation on the training split, and ours on the test split.
    """
    rows = [
        {"data": "", "model": model, "in words": "", "status": "not run as published"}
        | _leaderboard_row({}, metric, value)
        for (model, metric), value in unrepeated_values(results, LEADERBOARD).items()
        if metric in LEADERBOARD_METRICS
    ]
    for keys, dataset, board in _iterate_baselines(results, published_rows(results, LEADERBOARD)):
        published = repeated_baseline_values(results, LEADERBOARD, dataset, keys["model"])
        rows += [
            {**keys, **_leaderboard_row(board, metric, published.get((keys["model"], metric)))}
            for metric in LEADERBOARD_METRICS
        ]
    return _LEADERBOARD.table(
        rows,
        [
            (
                "The paper's figures are PyCaret's: cross-validated, with recall, precision and F1"
                " weighted by support (hence recall = accuracy). The difference is between the two"
                " cross-validated values; on how many cases the paper's rest is unknown, so that it"
                " has no interval. The test split was seen by no model; its intervals are by case."
            ),
            (
                "Seconds to fit differ from run to run, so they are no part of this table:"
                " results/baselines/ has them."
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
    """Keys of a row, its data set, and the leaderboard's rows of that baseline by evaluation; the
    paper's first.
    """
    for data, board in results.baselines.items():
        rows_by_model: dict[str, Board] = {
            str(name): {str(row["evaluation"]): row for row in rows.to_dict("records")}
            for name, rows in (board.groupby("baseline", sort=True) if len(board) else ())
        }
        for model in dict.fromkeys(
            [*(name for name in order if name in rows_by_model), *rows_by_model]
        ):
            rows = rows_by_model[model]
            statuses = sorted({str(row["status"]) for row in rows.values()})
            titles = dict.fromkeys(str(row["title"]) for row in rows.values())
            keys = {"data": results.data_label(data), "model": model, "in words": "; ".join(titles)}
            yield keys | {"status": "; ".join(statuses)}, data, rows


def _leaderboard_row(rows: Board, metric: str, published: float | None) -> dict[str, object]:
    validated, tested = rows.get("cross_validation", {}), rows.get("test", {})
    published_value = np.nan if published is None else published
    our_value = validated.get(metric, np.nan)
    return {
        "metric": LEADERBOARD_METRICS[metric],
        "published": published_value,
        "ours (cross-validated)": our_value,
        "difference": our_value - published_value,
        "ours (test)": tuple(tested.get(f"{metric}{end}", np.nan) for end in ("", "_low", "_high")),
        "n (training)": validated.get("n", pd.NA),
        "n (test)": tested.get("n", pd.NA),
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
"""The paper's column to that of the leaderboard, and the heading."""


@table(STUDY, TABPFN, "Table 3: TabPFN", loaders=("nlsy97",))
def tabpfn(results: StudyResults) -> TableContent:
    """TabPFN on the typed features: published (paper, Table 3), ours on the test split, their
    difference.
    """
    rows = [
        comparison_row({"data": ("", TABPFN_METRICS[metric][1])}, value, NOT_MEASURED)
        for (_, metric), value in unrepeated_values(results, TABPFN).items()
    ]
    reasons = []
    for data, board in results.baselines.items():
        test_rows = board[
            (board["baseline"] == "tabpfn") & (board["evaluation"] == "test")
        ].to_dict("records")
        our_row: Json = test_rows[0] if test_rows else {"status": "not run"}
        reasons += [f"TabPFN on {data}: {our_row['status']}."]
        published = repeated_baseline_values(results, TABPFN, data, "tabpfn")
        for metric, (column, heading) in TABPFN_METRICS.items():
            value, low, high, n = (
                our_row.get(name, np.nan)
                for name in (column, f"{column}_low", f"{column}_high", "n")
            )
            keys = {"data": (results.data_label(data), heading)}
            rows.append(
                comparison_row(
                    keys,
                    published.get(("tabpfn", metric)),
                    Measurement(value, low, high, n, n_cases=n),
                )
            )
    reading_note = (
        "Recall and F1 are binary, positive = rearrest; counts are read as actual by predicted."
    )
    return comparison_table(rows, ("data", "metric"), [reading_note, *reasons])


@table(
    STUDY,
    "table8_openml_medians",
    "Table 8: tabular models on other data (for reference)",
    loaders=("nlsy97",),
)
def openml_medians(results: StudyResults) -> TableContent:
    """Medians over 48 OpenML data sets that the paper quotes (Table 8).

    Nothing of it is run here.
    """
    values = published_values(results, "table8_openml_medians")
    metrics = ("auc", "f1", "accuracy")
    rows = [
        {"model": (row, *(values.get((row, metric), np.nan) for metric in metrics))}
        for row in published_rows(results, "table8_openml_medians")
    ]
    note = "Quoted by the paper from other work, on other data; the average of its F1 is not named."
    columns = (
        Columns()
        .plain("model")
        .published(*(f"published median {name}" for name in ("AUC", "F1", "accuracy")))
    )
    return columns.table(rows, [note])
