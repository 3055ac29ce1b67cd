"""Which scale stated confidences were read on, and how many could have been on either."""

from collections.abc import Iterator, Sequence

import pandas as pd

from moot.protocols.confidence_scales import Scale
from moot.scores import by_model, scorer
from moot.scores.results import OVERALL, ExperimentResults, Score


@scorer("confidence_scales")
def confidence_scales(results: ExperimentResults) -> pd.DataFrame:
    """`confidences_as_shares` (the share of replies read as shares of 1) and
    `confidences_ambiguous` (how many replies are above 0 and up to 1), overall and by `kind=`; none
    where no confidence is ambiguous. n counts replies.
    """
    return by_model(results, lambda model: _scores(results.scales(model)))


def _scores(scales: Sequence[Scale]) -> Iterator[Score]:
    if not any(scale.ambiguous for scale in scales):
        return
    kinds = {
        kind: [scale for scale in scales if scale.kind == kind]
        for kind in sorted({s.kind for s in scales})
    }
    for group, rows in [
        (OVERALL, scales),
        *((f"kind={kind}", found) for kind, found in kinds.items()),
    ]:
        n = sum(scale.replies for scale in rows)
        shares = sum(scale.replies for scale in rows if scale.share)
        yield Score("confidences_as_shares", shares / n, group=group, n=n)
        yield Score(
            "confidences_ambiguous", float(sum(scale.ambiguous for scale in rows)), group=group, n=n
        )
