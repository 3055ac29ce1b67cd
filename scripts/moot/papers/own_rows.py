"""Own rows of tables and own series of figures, from runs and trained models."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from moot.core.types import Fields
from moot.papers.items import PaperItem
from moot.papers.parts import AnswerCounts, ItemRun, OwnRow, Point, Series
from moot.report.notes import data_label
from moot.report.published import (
    Published,
    repeated_baseline_values,
    repeated_values,
    trained_rows,
    trained_score,
)
from moot.report.study_results import NOT_MEASURED, Measurement, Run
from moot.scores import INVALID_WRONG
from moot.scores.results import ExperimentResults, MadeUpInputs
from moot.stats.arrays import ratio
from moot.training.baselines import REBALANCED

MAX_INVALID_SHARE = 0.1
OF_LABEL = "@label="


def measure(run: Run, score: str) -> Measurement:
    """Return a score of a run that is written as `metric/average@group`.

    The accuracy of several labels compares whole answers, as the papers do.
    """
    name, _, group = score.partition("@")
    metric, _, average = name.partition("/")
    if run.results.task.multilabel and metric.startswith("accuracy"):
        metric = f"subset_{metric}"
    return run.measurement(metric, average, group) if group else run.measurement(metric, average)


def measure_strictly(run: Run, score: str) -> Measurement:
    """Return a score that counts invalid answers as wrong, if enough answers are invalid."""
    value = measure(run, score)
    if not value.n_invalid > MAX_INVALID_SHARE * value.n_answers:
        return NOT_MEASURED
    name, slash, rest = score.partition("/")
    metric, at, group = name.partition("@")
    return measure(run, f"{metric}{INVALID_WRONG}{at}{group}{slash}{rest}")


def count_cases(runs: Iterable[Run]) -> float:
    """Return the largest number of cases of some runs."""
    return max((run.predictions["case_id"].nunique() for run in runs), default=0)


def count_answers(runs: Iterable[Run]) -> AnswerCounts:
    """Count the answers of some runs."""
    statuses = pd.concat([run.predictions["status"] for run in runs])
    invalid, valid = (statuses == "invalid").sum(), (statuses == "valid").sum()
    return AnswerCounts(len(statuses), int(invalid), int(len(statuses) - invalid - valid))


def wording_of(runs: Iterable[Run]) -> str:
    """Return whose words the prompts of some runs have, and which settings are not the paper's."""
    notes: dict[str, None] = {}
    for run in runs:
        match = run.paper_match
        keys = ", ".join(f"`{key}`" for key in match.settings)
        settings = f"other settings: {keys}" if keys else ""
        notes |= dict.fromkeys(filter(None, [match.wording, settings]))
    return ", ".join(notes)


def row_of_runs(
    runs: Sequence[Run],
    heads: tuple[str, ...],
    cells: Mapping[tuple[str, str], Measurement],
    published: Mapping[tuple[str, str], Published],
    **fields: Any,
) -> OwnRow:
    """Return the own row of some runs; `fields` are further attributes of it."""
    described: dict[str, Any] = {
        "source": ", ".join(dict.fromkeys(run.experiment for run in runs)),
        "data": ", ".join(dict.fromkeys(run.data for run in runs)),
        "cases": count_cases(runs),
        "answers": count_answers(runs),
        "wording": wording_of(runs),
        "made_up": MadeUpInputs.of_all(run.results.config.made_up for run in runs),
    }
    return OwnRow(heads, cells=cells, published=published, **described | fields)


def series_of_run(run: Run, name: str, points: Iterable[Point], **fields: Any) -> Series:
    """Return points of a run; `fields` are further attributes of the series."""
    described: dict[str, Any] = {
        "source": run.experiment,
        "data": run.data,
        "cases": count_cases([run]),
        "made_up": run.results.config.made_up,
    }
    return Series(name, points=tuple(points), **described | fields)


def rows_of_runs(
    item: PaperItem, placed_runs: Iterable[tuple[str, tuple[str, ...], Run]]
) -> list[OwnRow]:
    """Return the own rows of runs.

    Runs with the same heads and in different parts (such as the prompts of a model) share a row.

    Args:
        item: The table.
        placed_runs: The part and the head cells of each run, with the run.
    """
    groups: dict[tuple[tuple[str, ...], bool, int], dict[str, Run]] = {}
    for part, heads, run in placed_runs:
        is_repeat = bool(_published_of(item, run))
        position = 0
        while part in groups.get((heads, is_repeat, position), {}):
            position += 1
        groups.setdefault((heads, is_repeat, position), {})[part] = run
    rows = [_row_of_parts(item, heads, runs) for (heads, _, _), runs in groups.items()]
    return [row for row in rows if row.cells or row.has_no_answer]


def _published_of(item: PaperItem, run: Run) -> Mapping[tuple[str, str], Published]:
    return repeated_values(run, item.published_table) if item.published else {}


def _row_of_parts(item: PaperItem, heads: tuple[str, ...], runs: Mapping[str, Run]) -> OwnRow:
    cells: dict[tuple[str, str], Measurement] = {}
    strict_cells: dict[tuple[str, str], Measurement] = {}
    published: dict[tuple[str, str], Published] = {}
    for part, score in scores_of(item):
        if part in runs:
            value = measure(runs[part], score)
            if value.value == value.value:
                cells[part, score] = value
                strict_cells[part, score] = measure_strictly(runs[part], score)
    for run in runs.values():
        published.update(_published_of(item, run))
    published_rows = {row for row, _ in published}
    return row_of_runs(
        [*runs.values()],
        heads,
        cells,
        published,
        row=next((row.key for row in item.rows if row.key in published_rows), ""),
        has_no_answer=not cells and all(_has_no_answer(run) for run in runs.values()),
        strict_cells=strict_cells,
    )


def _has_no_answer(run: Run) -> bool:
    """Return whether a model replied and none of its replies held a valid answer."""
    return len(run.predictions) > 0 and run.valid.empty


def scores_of(item: PaperItem) -> list[tuple[str, str]]:
    """Return the part and score of all cells of a table, each once."""
    pairs: dict[tuple[str, str], None] = {}
    for row in item.rows:
        for column in item.columns:
            spec = item.cell(row, column)
            pairs |= {(spec.part, score): None for score in spec.scores if score}
    return list(pairs)


def rows_of_trained_models(
    run: ItemRun, evaluation: str = "test", labels: Collection[str] = ()
) -> list[OwnRow]:
    """Return the rows of trained models, in the order of the paper's rows.

    Data sets in different columns share a row.

    Args:
        run: The table with the study's results.
        evaluation: Which evaluation of the models it shows.
        labels: The labels of the data sets that it shows; all data sets without them.
    """
    rows: dict[tuple[str, ...], OwnRow] = {}
    for data, board in run.results.baselines.items():
        results = run.results.experiment_by_dataset[data]
        if labels and set(results.task.labels) != set(labels):
            continue
        for board_row in trained_rows(board, evaluation):
            row = _trained_row(run, data, results, board_row)
            shared_row = rows.get(row.heads)
            if shared_row and shared_row.cells.keys().isdisjoint(row.cells):
                rows[row.heads] = _join_rows(shared_row, row)
            elif row.cells:
                key = row.heads if shared_row is None else (*row.heads, data)
                rows[key] = row
    keys = [row.key for row in run.item.rows]
    order = {key: place for place, key in enumerate(keys)}
    return sorted(
        rows.values(), key=lambda row: order.get(row.source.removesuffix(REBALANCED), len(keys))
    )


def _trained_row(run: ItemRun, data: str, results: ExperimentResults, board_row: Fields) -> OwnRow:
    item = run.item
    cells: dict[tuple[str, str], Measurement] = {}
    for part, score in scores_of(item):
        value = _trained_value(board_row, score, sorted(results.task.labels))
        if part in ("", results.config.loader) and value.value == value.value:
            cells[part, score] = value
    name = str(board_row["baseline"])
    paper_name = name.removesuffix(REBALANCED)
    titles = {row.key: row.heads[-1] for row in item.rows}
    title = titles.get(paper_name, str(board_row["title"]))
    if paper_name in titles and name != paper_name:
        title += ", rebalanced by SMOTE"
    published = repeated_baseline_values(run.results, item.published_table, data, paper_name)
    return OwnRow(
        heads=(name, title) if len(item.row_heads) > 1 else (f"{title} (trained)",),
        source=name,
        data=data_label(results),
        cases=float(board_row["n"]),
        cells=cells,
        published=published,
        row=paper_name if published and paper_name in titles else "",
        answers=AnswerCounts(int(board_row["n"]), noun="prediction"),
        made_up=MadeUpInputs(results.config.made_up.data),
    )


def _trained_value(board_row: Fields, score: str, labels: Sequence[str]) -> Measurement:
    """Return a score from the row of a leaderboard; F1 of a label from its confusion matrix.

    The rows of the matrix are the actual labels, the columns the predicted ones.
    """
    name, _, label = score.partition(OF_LABEL)
    if not label:
        return trained_score(board_row, name.replace("/", "_"))
    cells = np.array(json.loads(board_row["confusion"]), dtype=np.float64)
    values = ratio(2 * np.diag(cells), cells.sum(axis=0) + cells.sum(axis=1))
    n = board_row["n"]
    return Measurement(float(values[labels.index(label)]), n=n, n_invalid=0, n_cases=n)


def _join_rows(first: OwnRow, second: OwnRow) -> OwnRow:
    """Return one row of two data sets."""
    return replace(
        first,
        data=f"{first.data}, {second.data}",
        cases=max(first.cases, second.cases),
        cells={**first.cells, **second.cells},
        answers=replace(first.answers, n=first.answers.n + second.answers.n),
        published={**first.published, **second.published},
        row=first.row or second.row,
        made_up=MadeUpInputs.of_all([first.made_up, second.made_up]),
    )
