"""Every method on every data set: a comparison across the four papers.

Values of different data sets are listed, never summed, since their tasks and cases differ.
"""

from collections.abc import Iterator
from itertools import chain

import pandas as pd

from moot.core.cases import MAJORITY_CLASS
from moot.core.experiment_config import COMPARISON, RECORDED
from moot.core.types import Fields
from moot.report import table
from moot.report.columns import Columns, Row
from moot.report.content import TableContent, has_baselines, has_debates
from moot.report.published import share_valid, trained_rows, trained_score
from moot.report.study_results import Measurement, Run, StudyResults
from moot.scores import INVALID_WRONG
from moot.scores.results import ExperimentResults

STRICT, KEYS = "accuracy, invalid = wrong", ("data", "method", "model", "experiment")
COST_SCORES = {
    "calls a case": "calls_per_case",
    "prompt tokens a case": "prompt_tokens_per_case",
    "generated tokens a case": "completion_tokens_per_case",
}
MAJORITY, TRAINED = "majority class", "trained: "
"""Methods without calls to a model; they have no cost."""


def _describe_method(results: ExperimentResults) -> str:
    """Describe a protocol in words, with its variants.

    Variants are an assistant, an answer by likelihood, and matched samples.
    """
    params, name = results.config.params, results.config.protocol.replace("_", " ")
    if results.config.protocol == RECORDED:
        name = f"recorded: {params['method']}" if params.get("method") else name
    if results.config.protocol == "feedback":
        name = "debate-feedback, assistant" if params.get("assistant") else "debate-feedback"
    if str(params.get("k", "")).startswith("matched"):
        name += ", calls matched" if params["k"] == "matched" else ", tokens matched"
    likely = "likelihood" in (params.get("answer"), params.get("votes"))
    return f"{name}, likelihood" if likely else name


def _rows(results: StudyResults) -> list[Row]:
    """Yield a row per method, model and data set, followed by trained models.

    Of several experiments, the one with the most cases is shown.

    The main value is the accuracy that counts invalid answers as wrong. Otherwise a method that
    seldom answers would look better. The cost of recorded debates is unknown (NaN).
    """
    best_rows: dict[tuple[str, ...], Row] = {}
    experiments = results.experiments.values()
    rows_by_experiment = (_experiment_rows(results, experiment) for experiment in experiments)
    for row in chain.from_iterable(rows_by_experiment):
        best_row = best_rows.setdefault(tuple(row[name] for name in KEYS[:3]), row)
        if (row["all cases"], row["n"]) > (best_row["all cases"], best_row["n"]):
            best_rows[tuple(row[name] for name in KEYS[:3])] = row
    rows = list(best_rows.values())
    for dataset, board in results.baselines.items():
        for trained in trained_rows(board):
            accuracy, f1 = (trained_score(trained, metric) for metric in ("accuracy", "f1_macro"))
            names = (
                results.data_label(dataset),
                f"{TRAINED}{trained['title']}",
                "–",
                f"baselines of {dataset}",
            )
            rows.append(_row(names, accuracy, accuracy, f1))
    return rows


def _experiment_rows(
    results: StudyResults, results_of_experiment: ExperimentResults
) -> Iterator[Row]:
    """Yield each model of an experiment on test cases, and the majority class there."""
    metric = "subset_accuracy" if results_of_experiment.task.multilabel else "accuracy"
    for model in (*results_of_experiment.config.models, MAJORITY_CLASS) * (
        results_of_experiment.config.split == "test"
    ):
        run = Run(results_of_experiment, model, results)
        accuracy = run.measurement(metric)
        strict = run.measurement(metric + INVALID_WRONG)
        f1 = run.measurement("f1", "macro")
        if pd.isna(accuracy.value):
            continue
        if model == MAJORITY_CLASS:
            yield _row((run.data, MAJORITY, "–", run.experiment), accuracy, accuracy, f1)
        else:
            costs = {name: run.measurement(score).value for name, score in COST_SCORES.items()}
            yield (
                _row(
                    (run.data, _describe_method(results_of_experiment), model, run.experiment),
                    accuracy,
                    strict,
                    f1,
                )
                | costs
            )


def _row(
    names: tuple[str, str, str, str], accuracy: Measurement, strict: Measurement, f1: Measurement
) -> Row:
    nothing = dict.fromkeys(COST_SCORES, 0.0)
    return {
        **dict(zip(KEYS, names, strict=True)),
        STRICT: strict.value,
        "95 % low": strict.low,
        "95 % high": strict.high,
        "valid answers": share_valid(accuracy).value,
        "accuracy of valid answers": accuracy.value,
        "F1, macro": f1.value,
        **accuracy.counts,
        "all cases": strict.n_cases,
        **nothing,
    }


def _sort_key(row: Fields) -> tuple[bool, bool, str, str]:
    return row["method"] == MAJORITY, row["method"].startswith(TRAINED), row["method"], row["model"]


@table(
    COMPARISON,
    "methods",
    "Every method on every data set",
    needs=(has_debates, has_baselines),
)
def methods(results: StudyResults) -> TableContent:
    """Accuracy and macro F1 of every method on every data set, with calls and tokens per case."""
    return _LONG_COLUMNS.table(
        sorted(_rows(results), key=lambda row: (row["data"], *_sort_key(row))),
        [
            (
                "Accuracy is over all answers, and its interval counts invalid ones as wrong."
                " With several labels per case it is subset accuracy. `n` counts the valid"
                " debates (or answers) behind the accuracy of valid answers and F1; `cases`"
                " counts their cases. The cost of recorded debates is unknown."
            ),
            (
                "If several experiments use the same method on the same data, the one with the"
                " most cases is shown. Methods may have been run on different cases of a data"
                " set: compare with the majority class, and see a study's own tables for tests"
                " on the same cases. Trained models are scored on the whole test split."
            ),
        ],
    )


_LONG_COLUMNS = (
    Columns()
    .keys("data")
    .plain("method", "model", "experiment")
    .estimate(STRICT)
    .ours("valid answers", "accuracy of valid answers", "F1, macro")
    .plain("calls a case", digits=".1f")
    .plain("prompt tokens a case", "generated tokens a case", digits=",.0f")
    .counts("cases", "n", "n invalid")
)


@table(COMPARISON, "labels", "Each label of each method")
def each_label(results: StudyResults) -> TableContent:
    """F1 of each label of data sets with three or more labels, by method, with label shares."""
    return _LABEL_COLUMNS.table(
        chain.from_iterable(map(_label_rows, _runs_with_labels(results))),
        [
            "F1 of a label counts every other label as the negative one. The shares are over valid"
            " answers, whose number is `n`."
        ],
    )


_LABEL_COLUMNS = (
    Columns()
    .keys("data", "method", "model")
    .plain("label")
    .estimate("F1")
    .plain("true share", "predicted share")
    .counts("n")
)
_MIN_LABELS = 3


def _runs_with_labels(results: StudyResults) -> Iterator[Run]:
    for experiment in results.experiments.values():
        task = experiment.task
        if len(task.labels) >= _MIN_LABELS and not task.multilabel:
            yield from results.runs([experiment], Run)


def _label_rows(run: Run) -> Iterator[Row]:
    names = {
        "data": run.data,
        "method": _describe_method(run.results),
        "model": run.model,
    }
    shares = {
        name: run.valid[column].value_counts(normalize=True)
        for name, column in (("true share", "target"), ("predicted share", "prediction"))
    }
    for label in run.results.task.labels:
        f1 = run.measurement("f1", "binary", f"label={label}")
        if pd.notna(f1.value):
            yield {
                **names,
                "label": label,
                "F1": (f1.value, f1.low, f1.high),
                **{name: float(share.get(label, 0)) for name, share in shares.items()},
                "n": len(run.valid),
            }
