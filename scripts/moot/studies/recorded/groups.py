"""Error rates of recorded answers by sex and race, one row a group."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from moot.scores.group_rates import FALSE_NEGATIVE, FALSE_POSITIVE, PREDICTED, GroupRate, group_rates
from moot.studies.recorded.runs import RecordedRun

GROUPED_BY = ("sex", "race")
RATES = {FALSE_POSITIVE: "FPR", FALSE_NEGATIVE: "FNR"}


def group_rows(run: RecordedRun) -> Iterator[dict[str, Any]]:
    """Both error rates of one run in each group, with the p of their differences from the attribute's largest group."""
    found: dict[tuple[str, str], dict[str, GroupRate]] = {}
    for rates in (tuple(RATES), (PREDICTED,)):  # Holm's correction is over the error rates
        for one in group_rates(run.results, run.model, rates, GROUPED_BY):
            found.setdefault((one.attribute, one.group), {})[one.rate] = one
    for (attribute, group), by_rate in found.items():
        named = by_rate[PREDICTED]
        row: dict[str, Any] = {"method": run.method, "model": run.name, "group": f"{attribute}: {group}"}
        row |= {"cases": named.cases, "answers": named.n, "named positive": named.value}
        for rate, short in RATES.items():
            one = by_rate[rate]
            row |= {rate: one.value, f"{short} low": one.low, f"{short} high": one.high}
            row |= {f"{short} p": one.difference.p if one.difference else np.nan, f"{short} p, Holm": one.p_holm}
        yield row
