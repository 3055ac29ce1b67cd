"""Paired tests between the runs of a study, on the cases that both argued: one table, in every study."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pandas as pd

from moot.core.config import COMPARISON
from moot.report.content import StudyResults, TableContent, data_label
from moot.scores.results import ExperimentResults
from moot.stats.paired import Comparison, compare_shares, holm, share_right
from moot.studies import table

STUDIES = ("appellate", "conference", "courtroom", "feedback", "recorded", "stance", COMPARISON)
DIFFERENCES = ("difference", "difference low", "difference high")
PAIRED_NOTE = (
    "A case counts by the share of its repeats that are right, an invalid answer as wrong; the difference is the mean "
    "over common cases. Interval and p are by cluster: p is two-sided, of a randomisation test that flips the signs of "
    "the clusters' differences, which is McNemar's exact test where each case stands for itself and was argued once."
)
COLUMNS = (
    "data",
    "first",
    "first model",
    "second",
    "second model",
    *DIFFERENCES,
    "first better",
    "second better",
    "cases",
    "clusters",
    "p",
    "p (Holm)",
    "tests",
)


@dataclass(frozen=True, slots=True)
class Run:
    """One experiment with one of its models."""

    results: ExperimentResults
    model: str

    def share_right(self) -> "pd.Series[float]":
        """The share of right answers on each case."""
        rows = self.results.predictions
        return share_right(rows[rows["model"] == self.model])


def paired_tests(results: StudyResults) -> TableContent:
    """Each two runs that differ in the model alone, or in the experiment alone, on the cases that both argued."""
    shares = _Shares()
    rows = [
        row
        for dataset in dict.fromkeys(found.config.dataset for found in results.experiments.values())
        for family in _families([found for found in results.experiments.values() if found.config.dataset == dataset])
        for row in _rows(family, shares)
    ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    counts = ("first better", "second better", "cases", "clusters", "tests")
    return TableContent(
        frame.astype(dict.fromkeys(counts, "Int64")),
        notes=[
            f"Difference is the first run less the second. {PAIRED_NOTE}",
            "First better, second better: cases on which that run was right more often. Two models are compared within "
            "one experiment, two experiments with the same model, or, where they share none, with any. Holm's "
            "correction is over the tests of one experiment's models, or of one pair of models' experiments, on one "
            "data set; `tests` says how many these are.",
        ],
        difference=DIFFERENCES,
        intervals={"95 % interval": ("difference low", "difference high")},
        keys=("data", "first", "first model"),
        formats={"difference": "+.3f"},
        exploratory=True,
    )


for _study in STUDIES:
    table(
        _study,
        "paired_tests",
        "Do two runs differ on the same cases?",
        "Paired tests between models and between experiments on the same cases, with intervals by cluster and Holm's "
        "correction.",
    )(paired_tests)


def _families(experiments: list[ExperimentResults]) -> Iterator[list[tuple[Run, Run]]]:
    """Pairs of runs on one data set that are corrected together."""
    for found in experiments:
        yield [(Run(found, one), Run(found, other)) for one, other in combinations(found.config.models, 2)]
    by_models: dict[tuple[str, str], list[tuple[Run, Run]]] = {}
    for first, second in combinations(experiments, 2):
        shared = [model for model in first.config.models if model in second.config.models]
        either = [(one, other) for one in first.config.models for other in second.config.models]
        for one, other in [(model, model) for model in shared] or either:
            by_models.setdefault((one, other), []).append((Run(first, one), Run(second, other)))
    yield from by_models.values()


class _Shares(dict[Run, "pd.Series[float]"]):
    """The share of right answers of each run, counted once."""

    def __missing__(self, run: Run) -> "pd.Series[float]":
        self[run] = run.share_right()
        return self[run]


def _rows(family: list[tuple[Run, Run]], shares: _Shares) -> Iterator[dict[str, Any]]:
    found = [
        (one, other, compare_shares(shares[one], shares[other], one.results.clusters, one.results.seed))
        for one, other in family
    ]
    found = [(first, second, comparison) for first, second, comparison in found if comparison.n]
    adjusted = holm([comparison.p for _, _, comparison in found])
    for (first, second, comparison), p in zip(found, adjusted, strict=True):
        yield {
            "data": data_label(first.results),
            "first": first.results.experiment,
            "first model": first.results.config.name_of(first.model),
            "second": second.results.experiment,
            "second model": second.results.config.name_of(second.model),
            **paired_cells(comparison),
            "p (Holm)": p,
            "tests": len(found),
        }


def paired_cells(comparison: Comparison) -> Mapping[str, Any]:
    """A comparison under the headings that every paired table has."""
    return {
        "difference": comparison.difference,
        "difference low": comparison.low,
        "difference high": comparison.high,
        "first better": comparison.first_better,
        "second better": comparison.second_better,
        "cases": comparison.n,
        "clusters": comparison.clusters,
        "p": comparison.p,
    }
