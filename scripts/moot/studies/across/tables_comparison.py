"""Every method on every data set: the comparison that none of the four papers could make.

Values of different data sets are listed, never summed: their tasks differ, and so do their cases.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from moot.core.cases import MAJORITY_CLASS
from moot.core.config import COMPARISON, RECORDED
from moot.report import table
from moot.report.columns import Columns, Row
from moot.report.content import BASELINES, DEBATES, StudyResults, TableContent, data_label
from moot.report.published import COUNTS, NOT_A_NUMBER, Measured, measured, trained_rows, trained_score
from moot.scores import INVALID_WRONG
from moot.scores.contradictions import METRIC
from moot.scores.results import ExperimentResults

MOST_DATA = 6
"""Data sets in the short form of the table that has one a column: those on which most methods argued."""
TAKEN = ("calls_per_case", "prompt_tokens_per_case", "completion_tokens_per_case", METRIC)


@dataclass(frozen=True, slots=True)
class Entry:
    """One method on one data set: its experiment, accuracy (strict: invalid = wrong), macro F1, and what it takes.

    What recorded debates took is not known, and NaN.

    The strict accuracy is the headline, since a method that seldom answers must not look better for it.
    """

    method: str
    model: str
    data: str
    experiment: str
    accuracy: Measured
    strict: Measured
    f1: Measured
    calls: float = 0.0
    prompt_tokens: float = 0.0
    generated_tokens: float = 0.0
    contradictory: float = NOT_A_NUMBER

    @property
    def answers(self) -> int:
        """Predictions that were asked for, usable or not."""
        return int(self.accuracy.n + self.accuracy.n_invalid)

    @property
    def valid(self) -> float:
        """The share of predictions that were usable."""
        return self.accuracy.n / self.answers if self.answers else NOT_A_NUMBER


def method_name(results: ExperimentResults) -> str:
    """A protocol in words, with what changes its kind: assistant, answer by likelihood, matched samples."""
    params, name = results.config.params, results.config.protocol.replace("_", " ")
    if results.config.protocol == RECORDED:
        name = f"recorded: {params['method']}" if params.get("method") else name
    if results.config.protocol == "feedback":
        name = "debate-feedback, assistant" if params.get("assistant") else "debate-feedback"
    if str(params.get("k", "")).startswith("matched"):
        name += ", calls matched" if params["k"] == "matched" else ", tokens matched"
    likely = "likelihood" in (params.get("answer"), params.get("votes"))
    return f"{name}, likelihood" if likely else name


def entries(results: StudyResults) -> Iterator[Entry]:
    """One entry a method, model and data set: of several experiments the one with the most cases; then baselines."""
    best: dict[tuple[str, str, str], Entry] = {}
    for entry in (one for found in results.experiments.values() for one in _of_experiment(results, found)):
        key = entry.method, entry.model, entry.data
        kept = best.get(key)
        if not pd.isna(entry.accuracy.value) and (kept is None or entry.accuracy.n > kept.accuracy.n):
            best[key] = entry
    yield from best.values()
    for dataset, board in results.baselines.items():
        for row in trained_rows(board):
            accuracy, f1 = trained_score(row, "accuracy"), trained_score(row, "f1_macro")
            data = results.data_label(dataset)
            yield Entry(f"trained: {row['title']}", "–", data, f"baselines of {dataset}", accuracy, accuracy, f1)


def _of_experiment(results: StudyResults, found: ExperimentResults) -> Iterator[Entry]:
    """Each model of an experiment on test cases, and the majority class there."""
    if found.config.split != "test":
        return
    metric = "subset_accuracy" if found.task.multilabel else "accuracy"

    def score(model: str, name: str, average: str = "") -> Measured:
        return measured(results, found.experiment, model, name, average)

    for model in (*found.config.models, MAJORITY_CLASS):
        accuracy, f1 = score(model, metric), score(model, "f1", "macro")
        data = data_label(found)
        if model == MAJORITY_CLASS:
            yield Entry("majority class", "–", data, found.experiment, accuracy, accuracy, f1)
            continue
        yield Entry(
            method_name(found), model, data, found.experiment, accuracy, score(model, metric + INVALID_WRONG), f1,
            *(score(model, name).value for name in TAKEN),
        )  # fmt: skip


@table(COMPARISON, "methods_by_data", "Methods down, data sets across", rests_on=(DEBATES, BASELINES))
def methods_by_data(results: StudyResults) -> TableContent:
    """Accuracy of every method on every data set, invalid answers counted as wrong, with its 95 % interval, the number
    of predictions, the share of valid answers, and the calls and tokens that a case takes.
    """
    found = list(entries(results))
    data = list(dict.fromkeys(entry.data for entry in found))
    rows: dict[tuple[str, str], Row] = {}
    for entry in sorted(found, key=_order):
        row = rows.setdefault((entry.method, entry.model), {"method": entry.method, "model": entry.model})
        row[entry.data] = _cell(entry)
    argued = Counter(entry.data for entry in found if entry.model != "–")
    columns = Columns().plain("method", "model").ours(*data)
    columns = columns.short_form("method", "model", *(name for name, _ in argued.most_common(MOST_DATA)))
    return columns.table(
        rows.values(),
        [
            "Accuracy with invalid answers counted as wrong [95 % interval], n predictions, the share of them that "
            "could be used; calls, prompt and generated tokens a case, where they are known. For several labels it is "
            "subset accuracy. The table methods_long has the same as numbers, with the accuracy of valid answers "
            "alone and macro F1.",
            "Where several experiments are the same method on the same data, that with the most cases is shown. "
            "Methods may have been run on different cases of a data set: compare with the majority class, and see a "
            "study's own tables for tests on the same cases. Trained models are scored on the whole test split.",
        ],
    )


def _order(entry: Entry) -> tuple[bool, bool, str, str]:
    return entry.method == "majority class", entry.method.startswith("trained"), entry.method, entry.model


def _cell(entry: Entry) -> str:
    value = entry.strict
    interval = "" if pd.isna(value.low) else f" [{value.low:.2f}, {value.high:.2f}]"
    tokens = f"{entry.prompt_tokens:,.0f} + {entry.generated_tokens:,.0f} tokens"
    cost = f"; {entry.calls:.1f} calls, {tokens}" if entry.calls > 0 else ""
    cases = f" on {int(value.n_cases)} cases" if value.n_cases < value.n else ""
    return f"{value.value:.3f}{interval}, n = {entry.answers}{cases}, {entry.valid:.0%} valid{cost}"


@table(COMPARISON, "methods_long", "Every method on every data set, as numbers", rests_on=(DEBATES, BASELINES))
def methods_long(results: StudyResults) -> TableContent:
    """Accuracy and macro F1 of every method on every data set, with the calls and tokens that a case takes."""
    rows = [
        {
            "data": (entry.data, entry.method, entry.model, entry.experiment),
            "accuracy, invalid = wrong": (*entry.strict.interval, entry.valid, entry.accuracy.value, entry.f1.value),
            "calls a case": (entry.calls, entry.prompt_tokens, entry.generated_tokens),
            "cases": (*entry.accuracy.counts, entry.contradictory),
        }
        for entry in sorted(entries(results), key=lambda entry: (entry.data, *_order(entry)))
    ]
    return _LONG.table(
        rows,
        [
            "The interval is that of the accuracy with invalid answers counted as wrong. `n` counts valid debates (or "
            "answers), on which the accuracy of valid answers and F1 rest, `cases` the cases that they are about; "
            "`valid answers` is their share of those that were asked for. Trained models answer "
            "every case. What recorded debates took is not known. `contradictory replies` is the share of generated "
            "replies whose words say another answer than their prediction, which counts unless the experiment's "
            "`contradictory` says otherwise."
        ],
    )


_LONG = (
    Columns()
    .keys("data")
    .plain("method", "model", "experiment")
    .estimate("accuracy, invalid = wrong")
    .ours("valid answers", "accuracy of valid answers", "F1, macro")
    .plain("calls a case", digits=".1f")
    .plain("prompt tokens a case", "generated tokens a case", digits=",.0f")
    .counts(*COUNTS)
    .plain("contradictory replies")
    .short_form(
        "data", "method", "model", "accuracy, invalid = wrong", "95 % interval", "F1, macro", "calls a case", "n"
    )
)
