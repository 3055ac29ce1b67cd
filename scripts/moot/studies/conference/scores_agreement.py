"""The judge of agreement against the truth: which of its two errors it makes.

Ending a debate too early costs what was never said; letting it go on too long costs rounds. Section 5.1.3 of the paper
argues that the first is worse. An unusable answer is more debate, as in the conference, so it can only be an error of
the second kind.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.scores import no_scores, scorer
from moot.scores.groups import Group, by_group
from moot.scores.results import ExperimentResults, Score
from moot.stats.bootstrap import share_statistic
from moot.studies.conference.data_agreement import AGREEMENT


@scorer("agreement")
def agreement_scores(results: ExperimentResults) -> pd.DataFrame:
    """Both error rates by model and group."""
    return by_group(results, _errors) if results.config.protocol == "agreement" else no_scores()


def _errors(results: ExperimentResults, group: Group) -> Iterator[Score]:
    cases = group.rows["case_id"].to_numpy()
    ends = group.valid & np.asarray(group.rows["prediction"] == AGREEMENT)
    agree = np.asarray(group.rows["target"] == AGREEMENT)
    for metric, wrong, among in (("ends_too_early", ends & ~agree, ~agree), ("goes_on_too_long", ~ends & agree, agree)):
        yield results.sample(cases[among]).score(
            metric, share_statistic(wrong[among]), group.name, n_invalid=group.n_invalid
        )
