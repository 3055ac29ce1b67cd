"""Error rates of recorded answers by sex and race, one row a group."""

from collections.abc import Sequence

from moot.core.types import JsonObject
from moot.scores.group_rates import FALSE_NEGATIVE, FALSE_POSITIVE, PREDICTED, group_rates
from moot.stats.paired import holm
from moot.studies.recorded.runs import RecordedRun

GROUPED_BY = ("sex", "race")
RATES = {FALSE_POSITIVE: "FPR", FALSE_NEGATIVE: "FNR"}


def group_rows(runs: Sequence[RecordedRun]) -> list[JsonObject]:
    """Both error rates of each run in each group, with the p of their differences from the attribute's largest group.

    Holm's correction is over all of these differences.
    """
    each = [(run, one) for run in runs for one in group_rates(run.results, run.model, (*RATES, PREDICTED), GROUPED_BY)]
    adjusted = holm([one.p if one.rate in RATES else float("nan") for _, one in each])
    rows: dict[tuple[RecordedRun, str, str], JsonObject] = {}
    for (run, one), p in zip(each, adjusted, strict=True):
        names = {"method": run.method, "model": run.name, "group": f"{one.attribute}: {one.group}"}
        row = rows.setdefault((run, one.attribute, one.group), names)
        if one.rate == PREDICTED:
            row |= {"cases": one.cases, "answers": one.n, "named positive": one.value}
        else:
            short = RATES[one.rate]
            row |= {one.rate: (one.value, one.low, one.high, p), f"{short} p": one.p}
    return list(rows.values())
