"""Error rates by group: one table, in every study that argues about people; the recorded study has one of its own."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from moot.report import EVERY, table
from moot.report.content import GROUPS, Run, StudyResults, TableContent
from moot.scores.group_rates import FALSE_POSITIVE, FEWEST_CASES, PREDICTED, TRUE_POSITIVE, group_rates
from moot.stats.differences import UNPAIRED_NOTE

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
    EVERY,
    "group_rates",
    "Do error rates differ between groups of people?",
    "True and false positive rates and predicted positives by attribute of the person, with intervals, and "
    "differences from the largest group.",
    (GROUPS,),
    unless="groups",
)
def group_rates_table(results: StudyResults) -> TableContent:
    """One row a run, attribute, rate and group."""
    runs = [Run(found, model) for found in results.experiments.values() for model in found.config.models]
    frame = pd.DataFrame([row for run in runs for row in _rows(run)], columns=list(COLUMNS))
    return TableContent(
        frame.astype(dict.fromkeys(("cases", "n", "tests"), "Int64")),
        notes=[
            "Rates are over valid answers: predicted positive over all (n), the true positive rate over people whose "
            "outcome is positive, the false positive rate over the others: cases and n count these. A rate that rests "
            f"on fewer than {FEWEST_CASES} cases is not shown.",
            f"Each group is compared with the attribute's largest one. {UNPAIRED_NOTE} Holm's correction is over the "
            "differences of one run.",
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


def _rows(run: Run) -> Iterator[dict[str, Any]]:
    for one in group_rates(run.results, run.model, (TRUE_POSITIVE, FALSE_POSITIVE, PREDICTED)):
        row = {
            "experiment": run.experiment,
            "model": run.model,
            "data": run.data,
            "attribute": one.attribute,
            "rate": one.rate,
            "group": one.group,
            "ours": one.value,
            "95 % low": one.low,
            "95 % high": one.high,
            "cases": one.cases,
            "n": one.n,
        }
        if one.difference:
            row |= {
                "compared with": one.compared_with,
                "difference": one.difference.difference,
                "difference low": one.difference.low,
                "difference high": one.difference.high,
                "p": one.difference.p,
                "p (Holm)": one.p_holm,
                "tests": one.tests,
            }
        yield row
