"""How models rank under different methods, and language models next to trained ones."""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from moot.core.types import Fields
from moot.report import table
from moot.report.columns import SIGNED, Columns
from moot.report.content import TableContent
from moot.report.measurement import NOT_MEASURED
from moot.report.published import (
    comparison_row,
    comparison_table,
    repeated_baseline_values,
    repeated_values,
    trained_rows,
    trained_score,
    unrepeated_values,
)
from moot.report.study_results import StudyResults
from moot.stats.agreement import rank_correlation
from moot.studies.courtroom.runs import (
    DEBATE,
    METHODS,
    PUBLISHED_PROMPTS,
    STUDY,
    comparable_pairs,
    list_runs,
    published_pairs,
)
from moot.studies.courtroom.tables_baselines import LEADERBOARD

Pairs = Mapping[str, tuple[float, float]]
"""Model to its accuracy and F1."""
PLACES = {"accuracy": 0, "F1": 1}
PROMPT_TABLE, DEBATE_TABLE = "table4_prompting", "table5_courtroom"


@table(STUDY, "rankings", "Do methods rank models alike?")
def rankings(results: StudyResults) -> TableContent:
    """Rank correlation of the models' accuracy and of their F1 between two methods."""
    methods = (*PUBLISHED_PROMPTS, DEBATE)
    published = {method: published_pairs(results, method) for method in methods}
    ours = {method: comparable_pairs(results, method) for method in methods}
    rows: list[Fields] = []
    for first, second in combinations(methods, 2):
        for metric in PLACES:
            published_value, published_count = _rank(published[first], published[second], metric)
            our_value, our_count = _rank(ours[first], ours[second], metric)
            rows.append(
                {
                    "methods": f"{METHODS[first]} and {METHODS[second]}",
                    "metric": metric,
                    "published": published_value,
                    "ours": our_value,
                    "models (published)": published_count,
                    "models (ours)": our_count,
                }
            )
    columns = (
        Columns()
        .keys("methods")
        .plain("metric")
        .published("published", digits=SIGNED)
        .ours("ours", digits=SIGNED)
        .plain("models (published)", "models (ours)")
    )
    note = (
        "Spearman's rank correlation over the models that both methods have; it needs three."
        " `published` is computed here from Tables 4 and 5 of the paper, which says in words that"
        " there is little correlation between the rankings. `ours` covers every model that was run"
        " on the paper's data with its settings; F1 is binary."
    )
    return columns.table(rows, [note])


def _rank(first: Pairs, second: Pairs, metric: str) -> tuple[float, int]:
    place = PLACES[metric]
    models = [model for model in first if model in second]
    pairs = [(first[model][place], second[model][place]) for model in models]
    return rank_correlation(pairs), len(pairs)


@table(STUDY, "trained_and_language", "Trained models and language models")
def trained_and_language(results: StudyResults) -> TableContent:
    """Accuracy of trained models, single prompts and debates, published and ours."""
    rows = [*_published_rows(results), *_language_rows(results), *_trained_rows(results)]
    note = (
        "The paper says that trained models such as XGBoost typically far outperform language"
        " models. Its values are cross-validated for trained models (Table 2), of 150 test cases"
        " for prompts (Table 4) and of 100 for debates (Table 5). Ours are of test cases: all for"
        " trained models, the evaluated ones for language models."
    )
    return comparison_table(rows, ("kind", "model", "data"), [note])


def _published_rows(results: StudyResults) -> Iterator[Fields]:
    for (model, metric), value in unrepeated_values(results, LEADERBOARD).items():
        if metric == "accuracy":
            yield comparison_row(_keys("trained", model, ""), value, NOT_MEASURED)
    for table_name in (PROMPT_TABLE, DEBATE_TABLE):
        for (model, metric), value in unrepeated_values(results, table_name).items():
            method = metric.removesuffix("accuracy").rstrip("_") or DEBATE
            if metric.endswith("accuracy"):
                yield comparison_row(_keys(METHODS[method], model, ""), value, NOT_MEASURED)


def _language_rows(results: StudyResults) -> Iterator[Fields]:
    for run in list_runs(results, *PUBLISHED_PROMPTS, DEBATE):
        method = run.results.config.protocol
        name = DEBATE_TABLE if method == DEBATE else PROMPT_TABLE
        column = "accuracy" if method == DEBATE else f"{method}_accuracy"
        published = repeated_values(run, name).get((run.model, column))
        keys = _keys(METHODS[method], run.model, run.data)
        yield comparison_row(keys, published, run.measurement("accuracy"))


def _trained_rows(results: StudyResults) -> Iterator[Fields]:
    for data, board in results.baselines.items():
        for row in trained_rows(board):
            name = str(row["baseline"])
            published = repeated_baseline_values(results, LEADERBOARD, data, name)
            keys = _keys("trained", name, results.data_label(data))
            score = trained_score(row, "accuracy")
            if not np.isnan(score.value):
                yield comparison_row(keys, published.get((name, "accuracy")), score)


def _keys(kind: str, model: str, data: str) -> Fields:
    return {"kind": kind, "model": model, "data": data}
