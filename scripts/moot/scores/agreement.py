"""The judge of agreement against the truth: which of its two errors it makes.

Ending a debate too early costs what was never said; letting it go on too long costs rounds. Section 5.1.3 of the paper
argues that the first is worse. An unusable answer is more debate, as in the conference, so it
can only be an error of the second kind.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.datasets.agreement import AGREEMENT
from moot.scores import ExperimentResults, Score, below_each_other, scorer, to_frame
from moot.scores.evaluated import Group, groups_of
from moot.stats.bootstrap import share_of


@scorer("agreement")
def agreement(results: ExperimentResults) -> pd.DataFrame:
    """Both error rates by model and group."""
    if results.config.protocol != "agreement":
        return below_each_other([])
    return below_each_other(
        to_frame(results.experiment, group.model, _errors(results, group)) for group in groups_of(results)
    )


def _errors(results: ExperimentResults, group: Group) -> Iterator[Score]:
    cases = group.rows["case_id"].to_numpy()
    ends = group.valid & np.asarray(group.rows["prediction"] == AGREEMENT)
    agree = np.asarray(group.rows["target"] == AGREEMENT)
    for metric, wrong, among in (("ends_too_early", ends & ~agree, ~agree), ("goes_on_too_long", ~ends & agree, agree)):
        yield results.sample(cases[among]).score(metric, share_of(wrong[among]), group.name, n_invalid=group.n_invalid)
