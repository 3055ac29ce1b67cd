"""The table of answers before and after a discussion."""

import pandas as pd

from moot.core.types import Fields
from moot.report import table
from moot.report.columns import DIFFERENCE, SIGNED, Columns
from moot.report.content import TableContent
from moot.report.study_results import StudyResults
from moot.scores.dynamics import stated_answers
from moot.stats.arrays import Floats, as_numbers
from moot.stats.statistic import DIFFERENCE as BOUNDS
from moot.stats.statistic import SHARE, Statistic, mean_statistic, ratio_statistic
from moot.studies.recorded.runs import STUDY, RecordedRun, recorded_runs

MAJORITY = 0.5


@table(
    STUDY,
    "discussions",
    "Answers of a group's members before and after they talk",
    loaders=("transcripts",),
)
def discussions(results: StudyResults) -> TableContent:
    """How often members of a group are right before and after talk, and who changed."""
    rows = []
    for run in recorded_runs(results):
        members = group_members(run)
        row = _row_before_and_after(run, members) if members else None
        if row:
            rows.append(row)
    return _DISCUSSIONS.table(
        rows,
        [
            "Before and after are the first and the last answer of each member who has both; the"
            " difference is after minus before. An undecided answer (equal beliefs, or a value of"
            " `no_answer`) is not right. `Most end right` is the share of groups in which"
            " more than half of the members end on the right answer: among groups with a member who"
            " was right at first, and among groups without one."
        ],
    )


_DISCUSSIONS = (
    Columns()
    .keys("data", "method")
    .estimate("right before", "before")
    .estimate("right after", "after")
    .estimate("difference", "difference", role=DIFFERENCE, digits=SIGNED)
    .estimate("wrong who end right", "to right")
    .estimate("right who end wrong", "to wrong")
    .estimate("most end right, one was right", "one")
    .estimate("most end right, none was", "none")
    .counts("members", "groups", "groups with one right")
)


def _row_before_and_after(run: RecordedRun, members: set[str]) -> Fields | None:
    """Return the row of a run; None if no member has two answers."""
    opinions = stated_answers(run.results, model=run.model)
    of_members = opinions[opinions["speaker"].isin(members)]
    has_two_answers = of_members.duplicated(["debate_id", "speaker"], keep=False)
    by_member = of_members[has_two_answers].groupby(["debate_id", "speaker"], sort=True)
    answers = pd.DataFrame(
        {
            "case_id": by_member["case_id"].first(),
            "first": by_member["correct"].first(),
            "last": by_member["correct"].last(),
        }
    )
    if answers.empty:
        return None
    first = answers["first"].to_numpy(dtype=float)
    last = answers["last"].to_numpy(dtype=float)
    groups = answers.groupby("debate_id").agg({"case_id": "first", "first": "max", "last": "mean"})
    most_end_right = as_numbers(groups["last"] > MAJORITY)
    one_was_right = groups["first"].to_numpy(dtype=float)
    members_jackknife = run.results.sample(answers["case_id"]).jackknife
    groups_jackknife = run.results.sample(groups["case_id"]).jackknife
    return {
        "data": run.data,
        "method": run.method,
        "right before": members_jackknife.estimate(mean_statistic(first, SHARE)),
        "right after": members_jackknife.estimate(mean_statistic(last, SHARE)),
        "difference": members_jackknife.estimate(mean_statistic(last - first, BOUNDS)),
        "wrong who end right": members_jackknife.estimate(_share_among(last, 1 - first)),
        "right who end wrong": members_jackknife.estimate(_share_among(1 - last, first)),
        "most end right, one was right": groups_jackknife.estimate(
            _share_among(most_end_right, one_was_right)
        ),
        "most end right, none was": groups_jackknife.estimate(
            _share_among(most_end_right, 1 - one_was_right)
        ),
        "members": len(answers),
        "groups": len(groups),
        "groups with one right": int(one_was_right.sum()),
    }


def _share_among(values: Floats, among: Floats) -> Statistic:
    return ratio_statistic(values * among, among, SHARE)


def group_members(run: RecordedRun) -> set[str]:
    """Return the members of the run's groups who state answers and hear other members.

    The set is empty if no member heard another one (judges do not), and if a case has no known
    truth.
    """
    if "judge" not in run.predictions or (run.predictions["target"] == "").any():
        return set()
    members = set(run.predictions["judge"].dropna())
    if not members:
        return set()
    opinions = stated_answers(run.results, members, run.model)
    return members if (opinions["heard"] > 0).any() else set()
