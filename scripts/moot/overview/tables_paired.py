"""Paired tests between the runs of a study, on the cases that both argued: one table, in every
study.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import combinations, product

import pandas as pd

from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import TableContent
from moot.report.paired_cells import (
    PAIRED_NOTE,
    SAME_NOTE,
    add_holm_correction,
    paired_cells,
    same_answers,
)
from moot.report.study_results import Run, StudyResults
from moot.stats.paired import compare_shares, share_right

EXCESS_DIFFERENCE = "differ beyond asking twice"
COLUMNS = (
    Columns()
    .keys("data", "metric", "first", "first model")
    .plain("second", "second model")
    .estimate("difference", "difference", "95 % interval", DIFFERENCE, SIGNED)
    .counts("first better", "second better", "cases", "clusters")
    .plain("p", "p (Holm)", "family")
    .counts("tests in family")
    .plain("same answer", "same if asked twice")
    .estimate(EXCESS_DIFFERENCE, "differ", role="", digits=SIGNED)
)
METRIC = "accuracy, invalid = wrong"
MODELS, METHODS = "do models differ?", "do experiments differ?"
"""The questions of the table, each with its tests in one family."""


@table(EVERY_STUDY_AND_COMPARISON, "paired_tests", "Do two runs differ on the same cases?")
def paired_tests(results: StudyResults) -> TableContent:
    """Paired tests between models and between experiments on the same cases, with intervals by
    cluster and Holm's correction.
    """
    shares = cache(lambda run: share_right(run.predictions))
    by_dataset: dict[str, list[list[Run]]] = {}
    for experiment in results.experiments.values():
        by_dataset.setdefault(experiment.config.dataset, []).append(results.runs([experiment], Run))
    tests: list[Row] = []
    for family, make_pairs in ((MODELS, _pair_models), (METHODS, _pair_experiments)):
        for runs_by_experiment in by_dataset.values():
            tests += _rows(family, make_pairs(runs_by_experiment), shares)
    rows = add_holm_correction(tests)
    return COLUMNS.table(
        rows,
        [
            f"Difference is the accuracy of the first run minus the second run's. {PAIRED_NOTE}",
            (
                "First better, second better: cases on which that run was right more often. Two "
                "models are compared within one experiment. Two experiments are compared with "
                "the same model, or with any model if they share none. Holm's correction is over "
                f"all tests of this table that answer one question, on all data sets: `{MODELS}` "
                f"or `{METHODS}` (`family`); `tests in family` says how many these are."
            ),
            (
                f"{SAME_NOTE} {EXCESS_DIFFERENCE.capitalize()}: how much this exceeds `same "
                "answer`, with its interval by cluster. It is 0 if two models, or methods, give "
                "the same distribution of answers, whatever the share on which they disagree."
            ),
        ],
        exploratory=True,
    )


def _pair_models(experiments: list[list[Run]]) -> Iterator[tuple[Run, Run]]:
    """Yield two models of one experiment."""
    for runs in experiments:
        yield from combinations(runs, 2)


def _pair_experiments(experiments: list[list[Run]]) -> Iterator[tuple[Run, Run]]:
    """Yield two experiments on one data set.

    Each pair has the models that both share, or any models if they share none.
    """
    for first, second in combinations(experiments, 2):
        pairs = list(product(first, second))
        yield from [
            (first_run, second_run)
            for first_run, second_run in pairs
            if first_run.model == second_run.model
        ] or pairs


def _rows(
    family: str, pairs: Iterable[tuple[Run, Run]], shares: "Callable[[Run], pd.Series[float]]"
) -> Iterator[Row]:
    for first, second in pairs:
        comparison = compare_shares(
            shares(first), shares(second), first.results.clusters, first.results.seed
        )
        if comparison.cases:
            same_cells = same_answers(first, second, EXCESS_DIFFERENCE)
            yield {
                "data": first.data,
                "metric": METRIC,
                "first": first.experiment,
                "first model": first.model_name,
                "second": second.experiment,
                "second model": second.model_name,
                **paired_cells(comparison),
                "family": family,
                **same_cells,
            }
