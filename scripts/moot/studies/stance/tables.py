"""Tables 1 to 4 of the decision conference paper: stance and polarity, with trained models."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from moot.core.cases import REFERENCE_MODELS
from moot.core.types import Fields
from moot.report import table
from moot.report.content import NOT_MEASURED, Measurement, StudyResults, TableContent
from moot.report.needs import has_baselines, has_debates
from moot.report.published import (
    comparison_row,
    comparison_table,
    published_values,
    repeated_baseline_values,
    repeated_values,
    share_valid,
    trained_score,
    unrepeated_values,
)
from moot.scores import INVALID_WRONG
from moot.studies.stance.runs import (
    CLAIMS,
    POLARITY,
    STUDY,
    VAST,
    Run,
    StanceQuestion,
    f1_by_label,
    iterate_leaderboards,
    list_runs,
)

METRICS = {
    "accuracy": ("accuracy", "accuracy", ""),
    "precision": ("precision, macro", "precision", "macro"),
    "recall": ("recall, macro", "recall", "macro"),
    "f1": ("F1, macro", "f1", "macro"),
}
"""The paper's column to the heading, and metric and average of ours."""
CLASSES = ("pro", "con", "neutral")
METRICS_BY_CLASS = {
    f"f1_{label}": (f"F1 {label}", "f1", "binary", f"label={label}") for label in CLASSES
}
BY_CLASS_TABLE = "table2_vast_by_class"
KEYS = ("system", "asked", "data", "metric")
ASKED_NOTE = (
    "The paper asks zero-shot with a basic prompt and shows no prompt. Precision, recall and F1 are"
    " macro averages. It does not say what it does with unusable answers, so that its values are"
    " shown next to both of ours."
)
TRAINED_NOTE = (
    "References are computed on the cases that the experiment named in their row evaluated; trained"
    " models are scored on the whole test split, so that their n is larger."
)


@table(STUDY, "table1_vast", "Table 1: stance on VAST", needs=(has_debates, has_baselines))
def vast(results: StudyResults) -> TableContent:
    """Language models and trained models on VAST: published and ours."""
    notes = [
        "The paper's accuracy is an ordinary one although its table says that all figures are"
        f" macro averages. Its test set has {_describe_test_set(results)}; the data set's own test file has"
        " 3006 rows, and `subset` chooses among them. GPT-4 has an F1 alone."
    ]
    return _compare(results, VAST, notes)


@table(
    STUDY, BY_CLASS_TABLE, "Table 2: stance on VAST by class", needs=(has_debates, has_baselines)
)
def vast_by_class(results: StudyResults) -> TableContent:
    """F1 of each class on VAST: published and ours."""
    unrepeated = [
        (system, "", metric, value)
        for (system, metric), value in unrepeated_values(results, BY_CLASS_TABLE).items()
    ]
    unrepeated += [
        ("best trained model", "trained", metric, value)
        for (system, metric), value in unrepeated_values(results, VAST.trained).items()
        if system == "best_trained"
    ]
    rows: list[Fields] = [
        comparison_row(
            {"system": (system, form, "", f"F1 {metric.removeprefix('f1_')}")}, value, NOT_MEASURED
        )
        for system, form, metric, value in unrepeated
    ]
    rows += [
        *_run_rows(list_runs(results, VAST), BY_CLASS_TABLE, METRICS_BY_CLASS),
        *_trained_classes(results),
    ]
    notes = [
        "F1 of a class is binary: that class against the others.",
        "The published test set holds two neutral examples, so that its neutral F1 says little.",
        TRAINED_NOTE,
    ]
    return comparison_table(rows, KEYS, notes)


def _trained_classes(results: StudyResults) -> Iterator[Fields]:
    """F1 of each class of trained models."""
    for data, board in iterate_leaderboards(results, VAST):
        values = f1_by_label(board, sorted(CLASSES))
        for label in CLASSES:
            our_value = Measurement(
                values[label], n=float(board["n"]), n_invalid=0, n_cases=float(board["n"])
            )
            yield comparison_row(
                {"system": (board["title"], "trained", data, f"F1 {label}")}, None, our_value
            )


@table(
    STUDY, "table3_claim_stance", "Table 3: stance of claims", needs=(has_debates, has_baselines)
)
def claim_stance(results: StudyResults) -> TableContent:
    """Language models and trained models on the stance of claims: published and ours."""
    return _compare(
        results,
        CLAIMS,
        ["Published trained system: that of the data set's own paper, accuracy alone."],
    )


@table(
    STUDY,
    "table4_claim_polarity",
    "Table 4: polarity of claims",
    needs=(has_debates, has_baselines),
)
def claim_polarity(results: StudyResults) -> TableContent:
    """Language models and trained models on the polarity of claims: published and ours."""
    notes = [
        "Neutral are the claims without an annotatable subject. The published baseline is the"
        " sentiment score of the data set's own paper, accuracy alone."
    ]
    return _compare(results, POLARITY, notes)


def _compare(results: StudyResults, question: StanceQuestion, notes: Sequence[str]) -> TableContent:
    return comparison_table(
        list(_comparison_rows(results, question)), KEYS, [ASKED_NOTE, *notes, TRAINED_NOTE]
    )


def _comparison_rows(results: StudyResults, question: StanceQuestion) -> Iterator[Fields]:
    """Published models, our runs of them and of others, references, then trained models, published
    and ours.
    """
    for (system, metric), value in unrepeated_values(results, question.models).items():
        yield comparison_row({"system": (system, "", "", METRICS[metric][0])}, value, NOT_MEASURED)
    yield from _run_rows(list_runs(results, question), question.models, METRICS)
    yield from _trained_rows(results, question)


def _run_rows(
    runs: Sequence[Run], table: str, metrics: Mapping[str, tuple[str, ...]]
) -> Iterator[Fields]:
    """Some metrics of runs, next to a published table; then of the references on each experiment's
    evaluated cases.
    """
    for run in runs:
        published = repeated_values(run, table)
        for column, (heading, metric, *selection) in metrics.items():
            published_value, our_value = (
                published.get((run.model, column)),
                run.measurement(metric, *selection),
            )
            yield comparison_row({"system": (*run.names, heading)}, published_value, our_value)
            if metric == "accuracy":
                yield comparison_row(
                    {"system": (*run.names, "share of valid answers")}, None, share_valid(our_value)
                )
            if our_value.n_invalid:
                strict = run.measurement(metric + INVALID_WRONG, *selection)
                published_strict = published_value if metrics is METRICS else None
                yield comparison_row(
                    {"system": (*run.names, f"{heading}, invalid = wrong")},
                    published_strict,
                    strict,
                )
    experiments = {run.experiment: run for run in runs}.values()
    for run in (
        replace(run, model=reference) for run in experiments for reference in REFERENCE_MODELS
    ):
        for heading, metric, *selection in metrics.values():
            keys = {"system": (run.model, "reference", f"{run.data}, {run.experiment}", heading)}
            yield comparison_row(keys, None, run.measurement(metric, *selection))


def _trained_rows(results: StudyResults, question: StanceQuestion) -> Iterator[Fields]:
    for (row, metric), value in unrepeated_values(results, question.trained).items():
        if metric in METRICS:
            yield comparison_row(
                {"system": (row, "trained", "", METRICS[metric][0])}, value, NOT_MEASURED
            )
    for data, board in iterate_leaderboards(results, question):
        published = repeated_baseline_values(
            results, question.trained, board["dataset"], board["baseline"]
        )
        published_by_metric = {metric: value for (_, metric), value in published.items()}
        for column, (heading, metric, average) in METRICS.items():
            keys = {"system": (board["title"], "trained", data, heading)}
            yield comparison_row(
                keys,
                published_by_metric.get(column),
                trained_score(board, "_".join(filter(None, (metric, average)))),
            )


def _describe_test_set(results: StudyResults) -> str:
    counts = {
        metric: int(value)
        for (_, metric), value in published_values(results, "text_vast_test").items()
    }
    by_label = ", ".join(
        f"{counts[label]} {label}" for label in ("pro", "con", "neutral") if label in counts
    )
    return f"{counts.get('examples', 0)} examples ({by_label})"
