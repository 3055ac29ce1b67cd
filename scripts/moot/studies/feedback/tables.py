"""The paper's Tables 2 and 3."""

from collections.abc import Iterator, Sequence

import pandas as pd

from moot.core.types import Fields
from moot.report import table
from moot.report.content import TableContent
from moot.report.measurement import NOT_MEASURED
from moot.report.needs import has_baselines, has_debates
from moot.report.published import (
    Published,
    Values,
    comparison_row,
    comparison_table,
    repeated_baseline_values,
    repeated_values,
    share_valid,
    trained_score,
    unrepeated_values,
)
from moot.report.study_results import StudyResults, reference_runs
from moot.studies.feedback.runs import ASSISTED, DEBATE, METHODS, SINGLE, STUDY, Run, list_runs

KEYS = ("method", "model", "setting", "data", "metric")
TABLE2, TABLE3 = "table2_models", "table3_reasoning"
PAPER_METHODS = {
    "few-shot": METHODS["few_shot"],
    "cot": METHODS["four_step_cot"],
    "reflexion": METHODS["reflexion"],
    "debate-feedback-single": SINGLE,
    "debate-feedback-assistant": ASSISTED,
}
WEIGHTED_F1 = ("F1, weighted", "f1", "weighted", "")
# Heading, metric and average of ours, and the ending of the paper's column.
ONE_LABEL = (
    ("accuracy", "accuracy", "", "accuracy"),
    ("accuracy, invalid = wrong", "accuracy_invalid_wrong", "", ""),
    ("F1, macro", "f1", "macro", "f1"),
)
SEVERAL_LABELS = (
    ("subset accuracy", "subset_accuracy", "", "accuracy"),
    ("subset accuracy, invalid = wrong", "subset_accuracy_invalid_wrong", "", ""),
    ("F1, macro", "f1", "macro", "f1"),
    WEIGHTED_F1,
    ("F1, micro", "f1", "micro", ""),
)
METRIC_NOTE = (
    "The paper's accuracy compares whole answers (its Equation 2), which for several labels is "
    "subset accuracy; its F1 is the macro average (Equation 6). The authors' code computes "
    "weighted F1 for CAIL18 (`Eval/Bert.py`), which is shown as well. Micro F1 is ours."
)
READINGS_NOTE = (
    "CAIL18 with several articles a case follows section 4.2; with one article a case it follows"
    " the authors' files and code. Published values are compared with the former."
)
CASES_NOTE = (
    "The paper's cases were published only in part; ours are the published files. Therefore "
    "differences include the effect of other cases."
)


@table(
    STUDY,
    TABLE2,
    "Table 2: trained models, single prompts and Debate-Feedback",
    needs=(has_debates, has_baselines),
)
def models(results: StudyResults) -> TableContent:
    """Accuracy and macro F1 by method: published (paper, Table 2), ours, their difference. Trained
    models are this run's baselines, on the test split.
    """
    runs = list_runs(results, DEBATE, "zero_shot")
    rows = [
        *_trained_rows(results),
        *_run_rows(TABLE2, runs),
        *_reference_rows(runs),
        *_published_alone(results, TABLE2),
    ]
    model = "The published judge and debaters are GPT-4o; GPT-3.5 and GPT-4o alone are zero-shot."
    return comparison_table(rows, KEYS, [METRIC_NOTE, READINGS_NOTE, model, CASES_NOTE])


@table(STUDY, TABLE3, "Table 3: Debate-Feedback and other ways of reasoning")
def reasoning(results: StudyResults) -> TableContent:
    """Accuracy and macro F1 by method of reasoning: published (paper, Table 3), ours, their
    difference.
    """
    runs = list_runs(results)
    rows = [
        *_run_rows(TABLE3, runs),
        *_reference_rows(runs),
        *_published_alone(results, TABLE3),
    ]
    model = (
        "The paper names gpt-4o-mini for this comparison, and under its Table 2 GPT-4o for the"
        " judges and debaters of all experiments: its two rows of Debate-Feedback are taken as"
        " gpt-4o-mini, like the rows that they are compared with."
    )
    return comparison_table(rows, KEYS, [METRIC_NOTE, model, CASES_NOTE])


def _run_rows(table: str, runs: list[Run]) -> Iterator[Fields]:
    for run in runs:
        theirs = _kinds(repeated_values(run, table))
        for heading, metric, average, column in _shown_metrics(run):
            value = run.measurement(metric, average)
            names = (run.method, run.model, run.setting, run.data)
            yield comparison_row({"method": (*names, heading)}, theirs.get(column), value)
            if metric in ("accuracy", "subset_accuracy"):
                yield comparison_row(
                    {"method": (*names, "share of valid answers")}, None, share_valid(value)
                )


def _kinds(values: Values) -> dict[str, Published]:
    """Return accuracy and F1 of one published method on one data set."""
    return {metric.rpartition("_")[2]: value for (_, metric), value in values.items()}


def _shown_metrics(run: Run) -> Sequence[tuple[str, str, str, str]]:
    task = run.results.task
    if task.multilabel:
        return SEVERAL_LABELS
    return (*ONE_LABEL, WEIGHTED_F1) if len(task.labels) > 2 else ONE_LABEL


def _reference_rows(runs: list[Run]) -> Iterator[Fields]:
    for run in reference_runs(runs):
        for heading, metric, average, _ in _shown_metrics(run):
            value = run.measurement(metric, average)
            if value is not NOT_MEASURED:
                setting = f"reference on the cases of {run.experiment}"
                yield comparison_row(
                    {"method": (run.model, "–", setting, run.data, heading)}, None, value
                )


def _trained_rows(results: StudyResults) -> Iterator[Fields]:
    """Yield the baselines' rows on the test split; one that could not run says why in place of its
    setting.
    """
    for data, board in results.baselines.items():
        for row in board[board["evaluation"] == "test"].to_dict("records"):
            theirs = _kinds(repeated_baseline_values(results, TABLE2, data, str(row["baseline"])))
            setting = (
                "trained on the training split" if row["status"] == "ok" else str(row["status"])
            )
            task = results.experiment_by_dataset[data].task
            metrics = [
                ("subset accuracy" if task.multilabel else "accuracy", "accuracy", "accuracy"),
                ("F1, macro", "f1_macro", "f1"),
            ]
            if len(task.labels) > 2:
                metrics.append(("F1, weighted", "f1_weighted", ""))
            for heading, metric, column in metrics:
                keys = {
                    "method": (
                        str(row["baseline"]),
                        "–",
                        setting,
                        results.data_label(data),
                        heading,
                    )
                }
                value = NOT_MEASURED if pd.isna(row["accuracy"]) else trained_score(row, metric)
                yield comparison_row(keys, theirs.get(column), value)


def _published_alone(results: StudyResults, table: str) -> Iterator[Fields]:
    for (row, metric), value in unrepeated_values(results, table).items():
        data, _, kind = metric.partition("_")
        keys = {
            "method": (
                PAPER_METHODS.get(row, row),
                "",
                "published",
                data,
                kind.replace("f1", "F1, macro"),
            )
        }
        yield comparison_row(keys, value, NOT_MEASURED)
