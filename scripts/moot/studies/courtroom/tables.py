"""The paper's Tables 4 to 7: published value, ours, their difference with its interval, n and n
invalid.
"""

from collections.abc import Iterator, Mapping

from moot.core.types import Fields
from moot.report import table
from moot.report.columns import OURS, PUBLISHED, Columns
from moot.report.content import NOT_MEASURED, StudyResults, TableContent, reference_runs
from moot.report.published import (
    Published,
    Values,
    beside,
    compared,
    comparison,
    not_repeated,
    published_rows,
    published_table,
    share_valid,
)
from moot.studies.courtroom.runs import DEBATE, METHODS, PROMPTS, STUDY, Run, list_runs

KEYS = ("method", "model", "experiment", "data", "metric")
TABLE7 = "table7_commercial_confusion"

# Heading, metric and average of ours, and what the paper's column is called in the published
# figures.
METRICS = (
    ("accuracy", "accuracy", "", "accuracy"),
    ("accuracy, invalid = wrong", "accuracy_invalid_wrong", "", ""),
    ("F1, binary", "f1", "binary", "f1"),
    ("F1, binary, invalid = wrong", "f1_invalid_wrong", "binary", ""),
    ("F1, macro", "f1", "macro", ""),
    ("F1, weighted", "f1", "weighted", ""),
)

PAPER_NOTES = (
    (
        "The paper does not name the average of its F1. It is compared with our binary F1, positive"
        " = the outcome that is predicted (rearrest): of the usual averages only this one gives the"
        " 0.00 that Table 6 prints for a model that always answered NO."
    ),
    (
        "References are computed on the cases evaluated here: always the most frequent class, and a"
        " coin with the sample's base rate (expected values)."
    ),
)


@table(STUDY, "table4_prompting", "Table 4: single prompts", protocols=PROMPTS)
def prompting(results: StudyResults) -> TableContent:
    """Accuracy and F1 of single-agent prompting by method and model: published (paper, Table 4),
    ours, their difference.
    """
    commercial = {row.split("/")[0] for row in published_rows(results, "table6_commercial")}
    runs = [run for run in list_runs(results, *PROMPTS) if run.model not in commercial]
    rows = _model_rows(results, "table4_prompting", runs)
    return comparison(rows, KEYS, PAPER_NOTES)


@table(STUDY, "table5_courtroom", "Table 5: courtroom debate")
def debate(results: StudyResults) -> TableContent:
    """Accuracy and F1 of the courtroom debate by model: published (paper, Table 5), ours, their
    difference.
    """
    return comparison(
        _model_rows(results, "table5_courtroom", list_runs(results, DEBATE)), KEYS, PAPER_NOTES
    )


@table(STUDY, "table6_commercial", "Table 6: commercial models", protocols=PROMPTS)
def commercial(results: StudyResults) -> TableContent:
    """Accuracy and F1 of commercial models by prompt: published (paper, Table 6), ours, their
    difference.
    """
    models = {row.split("/")[0] for row in published_rows(results, "table6_commercial")}
    runs = [run for run in list_runs(results, *PROMPTS) if run.model in models]
    return comparison(_model_rows(results, "table6_commercial", runs), KEYS, PAPER_NOTES)


def _group_by_method(values: Values) -> dict[tuple[str, str], dict[str, Published]]:
    """(method, model) to accuracy and F1, from the rows and columns of Tables 4, 5 and 6."""
    groups: dict[tuple[str, str], dict[str, Published]] = {}
    for (row, column), value in values.items():
        model, _, prompt = row.partition("/")  # Table 6: haiku-3.5/cot
        column_method, _, metric = column.rpartition("_")  # Table 4: n_shot_cot_f1
        groups.setdefault((METHODS[prompt or column_method or DEBATE], model), {})[metric] = value
    return groups


def _model_rows(results: StudyResults, table: str, runs: list[Run]) -> Iterator[Fields]:
    """Published values that nothing repeats, in the paper's order, then our runs, then the
    references.
    """
    unrepeated = _group_by_method(not_repeated(results, table))
    our_runs: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        our_runs.setdefault((run.method, run.model), []).append(run)
    methods = [
        method
        for method in METHODS.values()
        if any(method == key[0] for key in (*unrepeated, *our_runs))
    ]
    for method in methods:
        for key in dict.fromkeys([key for key in (*unrepeated, *our_runs) if key[0] == method]):
            published = unrepeated.get(key, {})
            for heading, _, _, column in METRICS:
                if column in published:
                    yield compared(
                        {"method": (*key, "", "", heading)}, published[column], NOT_MEASURED
                    )
            for run in our_runs.get(key, []):
                yield from _run_rows(run, _group_by_method(beside(run, table)).get(key, {}))
    for run in reference_runs(runs):
        yield from _run_rows(run, {})


def _run_rows(run: Run, published: Mapping[str, Published]) -> Iterator[Fields]:
    for heading, metric, average, column in METRICS:
        value = run.measured(metric, average)
        if value is not NOT_MEASURED:
            yield compared({"method": (*run.names, heading)}, published.get(column), value)
            if metric == "accuracy" and run.method != "reference":
                yield compared(
                    {"method": (*run.names, "share of valid answers")}, None, share_valid(value)
                )


@table(STUDY, TABLE7, "Table 7: confusion counts of commercial models", protocols=PROMPTS)
def commercial_confusion(results: StudyResults) -> TableContent:
    """Confusion counts of commercial models as printed (paper, Table 7), what follows from them,
    and ours.
    """
    printed = _printed_counts(results)
    rows = []
    for row, counts in printed.items():
        model, prompt = row.split("/")
        matching_runs = [
            run
            for run in list_runs(results, prompt)
            if any(name == row for name, _ in beside(run, TABLE7))
        ]
        printed_row = {"model": model, "method": METHODS[prompt], **_correct_counts(counts)}
        rows += [printed_row | _our_counts(run) for run in matching_runs] or [printed_row]
    matching_note = (
        "`ours` is filled where a run repeats the paper's experiment with that model. `NO as YES`"
        " counts cases without rearrest that were predicted to have one."
    )
    return _CONFUSION.table(rows, [matching_note])


_CELLS = {"NO as NO": "tn", "YES as YES": "tp", "YES as NO": "fn", "NO as YES": "fp"}
"""Our counts by their meaning, so that no one need ask which class is positive."""
_CORRECTED = ("accuracy", "precision of NO", "F1 of NO", "F1 of YES")
_CONFUSION = (
    Columns()
    .keys("model")
    .plain("method")
    .published("printed accuracy", "printed precision", digits=".2f")
    .counts("printed TP", "printed TN", "printed FP", "printed FN", role=PUBLISHED)
    .difference(*(f"put right: {name}" for name in _CORRECTED), digits=".2f")
    .counts(*(f"ours: {meaning}" for meaning in _CELLS), role=OURS)
    .counts("n", "n invalid")
    .short_form(
        "model",
        "method",
        "printed accuracy",
        "printed precision",
        *(f"put right: {name}" for name in _CORRECTED),
    )
)


def _printed_counts(results: StudyResults) -> dict[str, dict[str, float]]:
    """Table 7's row to its columns, with the accuracy that Table 6 prints for the same row."""
    accuracy = published_table(results, "table6_commercial")
    rows: dict[str, dict[str, float]] = {}
    for (row, metric), value in published_table(results, TABLE7).items():
        rows.setdefault(row, {"accuracy": accuracy[row, "accuracy"]})[metric] = value
    return rows


def _correct_counts(counts: Mapping[str, float]) -> dict[str, tuple[float, ...]]:
    """The printed columns, then what they give once TN and FP are exchanged; positive = NO there,
    as the counts say.
    """
    tp, tn, fp, fn = counts["tp"], counts["fp"], counts["tn"], counts["fn"]
    return {
        "printed accuracy": tuple(
            counts[name] for name in ("accuracy", "precision", "tp", "tn", "fp", "fn")
        ),
        "put right: accuracy": (
            (tp + tn) / (tp + tn + fp + fn),
            tp / (tp + fp) if tp + fp else 0.0,
            2 * tp / (2 * tp + fp + fn) if tp else 0.0,
            2 * tn / (2 * tn + fp + fn) if tn else 0.0,
        ),
    }


def _our_counts(run: Run) -> dict[str, tuple[float, ...]]:
    cells = [run.measured(name, "binary") for name in _CELLS.values()]
    return {
        f"ours: {next(iter(_CELLS))}": (
            *(count.value for count in cells),
            cells[0].n,
            cells[0].n_invalid,
        )
    }
