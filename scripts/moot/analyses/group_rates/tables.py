"""Error rates by group: one table in every study about people."""

from moot.report import EVERY_STUDY, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import StudyPlan, TableContent
from moot.report.study_results import Run, StudyResults
from moot.scores.group_rates import (
    FALSE_POSITIVE,
    MIN_CASES,
    PREDICTED,
    TRUE_POSITIVE,
    GroupRate,
    group_rates,
)
from moot.stats.differences import UNPAIRED_NOTE
from moot.stats.paired import holm

RATES = (TRUE_POSITIVE, FALSE_POSITIVE, PREDICTED)
COLUMNS = (
    Columns()
    .keys("experiment", "model", "data", "attribute", "rate")
    .plain("group")
    .estimate("ours")
    .plain("compared with")
    .estimate("difference", "difference", "of the difference", DIFFERENCE, SIGNED)
    .plain("p", "p (Holm)")
    .counts("tests in family", "cases", "n")
)


def has_groups(plan: StudyPlan) -> bool:
    """Return whether the groups are known to which the people of some cases belong."""
    return any(plan.options_of(experiment).groups for experiment in plan.experiments)


@table(
    EVERY_STUDY,
    "group_rates",
    "Do error rates differ between groups of people?",
    needs=(has_groups,),
)
def group_rates_table(results: StudyResults) -> TableContent:
    """True and false positive rates and predicted positives, by attribute of the person."""
    runs = results.runs(results.experiments.values(), Run)
    rates: list[tuple[Run, GroupRate]] = []
    for run in runs:
        rates += [(run, rate) for rate in group_rates(run.results, run.model, RATES)]
    adjusted = holm([rate.p for _, rate in rates])
    tests = sum(rate.difference is not None for _, rate in rates)
    return COLUMNS.table(
        (_row(run, rate, p, tests) for (run, rate), p in zip(rates, adjusted, strict=True)),
        [
            (
                "Rates are over valid answers: predicted positive over all people, the true "
                "positive rate over people with a positive outcome, the false positive rate over "
                f"the others. `cases` and `n` count these. A rate from fewer than {MIN_CASES} "
                "cases is not shown."
            ),
            (
                f"Each group is compared with the attribute's largest one. {UNPAIRED_NOTE} Holm's"
                " correction is over all differences of this table (`tests in family`)."
            ),
            (
                "A difference in rates need not be an effect of the attribute, since groups also "
                "differ in their outcomes and in other features. The table `counterfactual` "
                "changes only the attribute."
            ),
        ],
        exploratory=True,
    )


def _row(run: Run, rate: GroupRate, adjusted: float, tests: int) -> Row:
    row: Row = {
        "experiment": run.experiment,
        "model": run.model,
        "data": run.data,
        "attribute": rate.attribute,
        "rate": rate.rate,
        "group": rate.group,
        "ours": (rate.value, rate.low, rate.high),
        "cases": rate.cases,
        "n": rate.n,
    }
    if tested := rate.difference:
        row |= {
            "compared with": rate.compared_with,
            "difference": (tested.difference, tested.low, tested.high),
            "p": tested.p,
            "p (Holm)": adjusted,
            "tests in family": tests,
        }
    return row
