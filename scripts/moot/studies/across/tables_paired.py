"""Paired tests between the runs of a study, on the cases that both argued: one table, in every study."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product

import pandas as pd

from moot.report import EVERYWHERE, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import StudyResults, TableContent, data_label
from moot.report.paired import PAIRED_NOTE, paired_cells
from moot.scores.results import ExperimentResults
from moot.stats.paired import compare_shares, holm, share_right

COLUMNS = (
    Columns()
    .keys("data", "first", "first model")
    .plain("second", "second model")
    .estimate("difference", "difference", "95 % interval", DIFFERENCE, SIGNED)
    .counts("first better", "second better", "cases", "clusters")
    .plain("p", "p (Holm)", "family")
    .counts("tests")
)
MODELS, METHODS = "do models differ?", "do experiments differ?"
"""The questions of the table, each with its tests in one family."""


@dataclass(frozen=True, slots=True)
class Run:
    """One experiment with one of its models."""

    results: ExperimentResults
    model: str

    @property
    def names(self) -> tuple[str, str]:
        """What the table calls it: experiment and model."""
        return self.results.experiment, self.results.config.name_of(self.model)

    def share_right(self) -> "pd.Series[float]":
        """The share of right answers on each case."""
        rows = self.results.predictions
        return share_right(rows[rows["model"] == self.model])


@table(
    EVERYWHERE,
    "paired_tests",
    "Do two runs differ on the same cases?",
    "Paired tests between models and between experiments on the same cases, with intervals by cluster and Holm's "
    "correction.",
)
def paired_tests(results: StudyResults) -> TableContent:
    """Each two runs that differ in the model alone, or in the experiment alone, on the cases that both argued."""
    shares = _Shares()
    by_dataset: dict[str, list[ExperimentResults]] = {}
    for found in results.experiments.values():
        by_dataset.setdefault(found.config.dataset, []).append(found)
    rows = corrected(
        row
        for family, pairs in ((MODELS, _of_models), (METHODS, _of_experiments))
        for found in by_dataset.values()
        for row in _rows(family, pairs(found), shares)
    )
    return COLUMNS.table(
        rows,
        [
            f"Difference is the first run less the second. {PAIRED_NOTE}",
            "First better, second better: cases on which that run was right more often. Two models are compared within "
            "one experiment, two experiments with the same model, or, where they share none, with any. Holm's "
            f"correction is over all tests of this table that answer one question, on all data sets: `{MODELS}` or "
            f"`{METHODS}` (`family`); `tests` says how many these are.",
        ],
        exploratory=True,
    )


def _of_models(experiments: list[ExperimentResults]) -> Iterator[tuple[Run, Run]]:
    """Two models of one experiment."""
    for found in experiments:
        for one, other in combinations(found.config.models, 2):
            yield Run(found, one), Run(found, other)


def _of_experiments(experiments: list[ExperimentResults]) -> Iterator[tuple[Run, Run]]:
    """Two experiments on one data set: with the models that both have, or with any where they share none."""
    for first, second in combinations(experiments, 2):
        shared = [(model, model) for model in first.config.models if model in second.config.models]
        for one, other in shared or product(first.config.models, second.config.models):
            yield Run(first, one), Run(second, other)


class _Shares(dict[Run, "pd.Series[float]"]):
    """The share of right answers of each run, counted once."""

    def __missing__(self, run: Run) -> "pd.Series[float]":
        self[run] = run.share_right()
        return self[run]


def _rows(family: str, pairs: Iterable[tuple[Run, Run]], shares: _Shares) -> Iterator[Row]:
    for first, second in pairs:
        comparison = compare_shares(shares[first], shares[second], first.results.clusters, first.results.seed)
        if comparison.cases:
            yield {
                "data": (data_label(first.results), *first.names, *second.names),
                **paired_cells(comparison),
                "family": family,
            }


def corrected(rows: Iterable[Row]) -> list[Row]:
    """Rows with p and family, with Holm's correction over the tests of each family and how many these are."""
    given = list(rows)
    families: dict[str, list[Row]] = {}
    for row in given:
        families.setdefault(row["family"], []).append(row)
    for family in families.values():
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row |= {"p (Holm)": p, "tests": len(family)}
    return given
