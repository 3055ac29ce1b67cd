"""Whether the debates of a contrast end, and what they took: decided alike before each look and in
the tables.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from moot.core.cases import look_numbers
from moot.scores.contrasts import Contrast, Stop, planned_cases, watched
from moot.scores.results import ExperimentResults
from moot.stats.sequential import OPEN

BUDGET, ALL = "budget", "all cases debated"


@dataclass(frozen=True, slots=True)
class Stopping:
    """How far the debates of a contrast have come.

    Attributes:
        reason: to stop after these looks: a verdict of `moot.stats.sequential`, `BUDGET`, or `ALL`;
            `OPEN` for none.
        looks, planned_looks: held, and planned.
        cases, planned: debated in these, and planned.
        calls, usd: that the debates of both sides took; NaN where that is not known, as of recorded
            debates.
    """

    reason: str
    looks: int
    planned_looks: int
    cases: int
    planned: int
    calls: float
    usd: float


def stopping(
    contrast: Contrast, stop: Stop, experiments: Mapping[str, ExperimentResults]
) -> Stopping:
    """How far the debates of a contrast have come, by what the run has left behind so far.

    Raises:
        UserError: cases belong to clusters of several kinds.
    """
    results = experiments[contrast.first.experiment]
    number = look_numbers(planned_cases(contrast, results), results.task, stop.look, results.seed)
    models: dict[str, set[str]] = {}
    for side in contrast.sides:
        models.setdefault(side.experiment, set()).update(side.models)
    frames = [(experiments[name].predictions, wanted) for name, wanted in models.items()]
    rows = pd.concat([frame[frame["model"].isin(wanted)] for frame, wanted in frames])
    last = max((number[case] for case in rows["case_id"].unique()), default=-1)
    later = [look for look in number.values() if look > last]
    held, following = (
        len(number) - len(later),
        later.count(min(later, default=0)),
    )  # a look may have no cases
    calls, usd = (
        float(rows[name].astype(float).sum(min_count=1)) for name in ("calls", "cost_usd")
    )
    reason = watched(contrast, experiments).verdict(
        stop.difference, stop.alpha, held / len(number), stop.futility
    )
    if reason == OPEN:
        if not later:
            reason = ALL
        elif stop.usd is not None and held and usd + usd / held * following > stop.usd:
            reason = BUDGET
    return Stopping(reason, last + 1, max(number.values()) + 1, held, len(number), calls, usd)


def all_stop(found: Iterable[Stopping]) -> bool:
    """Whether linked experiments stop: each contrast is decided, or one has no money left."""
    reasons = [one.reason for one in found]
    return OPEN not in reasons or BUDGET in reasons
