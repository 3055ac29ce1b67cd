"""Error rates by group of people, each with its interval, and how far each group is from the largest one."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from moot.core.cases import positive_of_two
from moot.report.content import StudyResults, TableContent
from moot.scores.groups import Group, prediction_groups
from moot.stats.bootstrap import DIFFERENCE, SHARE, ratio_statistic
from moot.stats.contrasts import Difference, Sums, compare_unpaired
from moot.stats.paired import holm
from moot.studies import table
from moot.studies.courtroom.runs import STUDY, Run, list_runs

FEWEST_CASES = 10
TRUE_POSITIVE, FALSE_POSITIVE, PREDICTED = "true positive rate", "false positive rate", "predicted positive"
COLUMNS = (
    "experiment",
    "model",
    "data",
    "attribute",
    "rate",
    "group",
    "ours",
    "95 % low",
    "95 % high",
    "compared with",
    "difference",
    "difference low",
    "difference high",
    "p",
    "p (Holm)",
    "tests",
    "cases",
    "n",
)


@table(
    STUDY,
    "group_rates",
    "Do error rates differ between groups of people?",
    "True and false positive rates and predicted positives by attribute of the person, with intervals, and differences "
    "from the largest group.",
)
def group_rates(results: StudyResults) -> TableContent:
    """One row a run, attribute, rate and group."""
    rows = [row for run in list_runs(results) if positive_of_two(run.results.task) for row in _run_rows(run)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return TableContent(
        frame.astype(dict.fromkeys(("cases", "n", "tests"), "Int64")),
        notes=[
            "Rates are over valid answers: predicted positive over all (n), the true positive rate over people whose "
            "outcome is positive, the false positive rate over the others. Groups of fewer than "
            f"{FEWEST_CASES} cases are left out.",
            "Each group is compared with the attribute's largest one. Groups are different people, so p is of a t test "
            "on the bootstrap's standard error, by case; Holm's correction is over the differences of one run.",
            "A difference in rates is not by itself an effect of the attribute: groups differ in their outcomes and in "
            "all else that is told. The table `counterfactual` changes the attribute alone.",
        ],
        ours=("ours", "95 % low", "95 % high"),
        difference=("difference", "difference low", "difference high"),
        intervals={
            "95 % interval": ("95 % low", "95 % high"),
            "of the difference": ("difference low", "difference high"),
        },
        keys=("experiment", "model", "data", "attribute", "rate"),
        formats={"difference": "+.3f"},
        exploratory=True,
    )


def _run_rows(run: Run) -> list[dict[str, Any]]:
    rows = [row for groups in _attributes(run).values() for row in _attribute_rows(run, groups)]
    tested = [row for row in rows if "p" in row]
    for row, p in zip(tested, holm([row["p"] for row in tested]), strict=True):
        row |= {"p (Holm)": p, "tests": sum(not np.isnan(other["p"]) for other in tested)}
    return rows


def _attributes(run: Run) -> Mapping[str, list[Group]]:
    """The groups of each attribute that hold enough cases."""
    found: dict[str, list[Group]] = {}
    for group in prediction_groups(run.results):
        attribute, named, _ = group.name.partition("=")
        if named and attribute != "retries" and group.model == run.model:
            valid = group.rows[group.valid]
            if valid["case_id"].nunique() >= FEWEST_CASES:
                found.setdefault(attribute, []).append(Group(group.model, group.name, valid))
    return found


def _attribute_rows(run: Run, groups: list[Group]) -> Iterator[dict[str, Any]]:
    largest = max(groups, key=lambda group: (group.rows["case_id"].nunique(), group.name))
    for rate in (TRUE_POSITIVE, FALSE_POSITIVE, PREDICTED):
        for group in groups:
            sums = _sums(run, group, rate)
            sample = run.results.sample(group.rows["case_id"])
            statistic = ratio_statistic(sums.tops[:, 0], sums.bottoms[:, 0], SHARE)
            value, low, high = sample.bootstrap.estimate(statistic)
            attribute, _, name = group.name.partition("=")
            row = {
                "experiment": run.experiment,
                "model": run.model,
                "data": run.data,
                "attribute": attribute,
                "rate": rate,
                "group": name,
                "ours": value,
                "95 % low": low,
                "95 % high": high,
                "cases": sample.n_cases,
                "n": sample.n,
            }
            other = _sums(run, largest, rate)
            if group is not largest and sums.bottoms.any() and other.bottoms.any():
                row |= _cells(_compare(run, (group, sums), (largest, other)), largest.name.partition("=")[2])
            yield row


def _sums(run: Run, group: Group, rate: str) -> Sums:
    """A rate as answers over people, row by row."""
    positive = positive_of_two(run.results.task)
    named = (group.rows["prediction"] == positive).to_numpy()
    actual = (group.rows["target"] == positive).to_numpy()
    among = {TRUE_POSITIVE: actual, FALSE_POSITIVE: ~actual, PREDICTED: np.ones_like(actual)}[rate]
    return Sums((named & among).astype(np.float64)[:, None], among.astype(np.float64)[:, None])


def _compare(run: Run, one: tuple[Group, Sums], other: tuple[Group, Sums]) -> Difference:
    first, second = ([run.results.clusters[case] for case in group.rows["case_id"]] for group, _ in (one, other))
    return compare_unpaired(one[1], other[1], first, second, run.results.seed, DIFFERENCE)


def _cells(found: Difference, reference: str) -> dict[str, Any]:
    return {
        "compared with": reference,
        "difference": found.difference,
        "difference low": found.low,
        "difference high": found.high,
        "p": found.p,
    }
