"""Tables of answers before and after a discussion, and of what was heard before a change."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from moot.core.types import Fields, JsonObject
from moot.report import table
from moot.report.columns import DIFFERENCE, SIGNED, Columns
from moot.report.content import TableContent
from moot.report.study_results import StudyResults
from moot.scores.dynamics import stated_answers
from moot.stats.arrays import Column, Floats, Truths, as_numbers, ratio
from moot.stats.statistic import DIFFERENCE as BOUNDS
from moot.stats.statistic import SHARE, Statistic, mean_statistic, ratio_statistic
from moot.studies.recorded.opinion_changes import (
    RIGHT_ANSWER,
    UNDECIDED,
    WRONG_ANSWER,
    Occasion,
    describe_features,
    find_occasions,
    group_members,
)
from moot.studies.recorded.runs import STUDY, RecordedRun, mean_by_case, recorded_runs, sum_by_case

MAJORITY = 0.5


@table(
    STUDY,
    "discussions",
    "Answers of a group's members before and after they talk",
    loaders=("transcripts",),
)
def discussions(results: StudyResults) -> TableContent:
    """How often members of a group are right before and after the group talks, who changed their
    answer, and whether a member who was right convinced the others; with 95 % intervals by group.
    """
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
    .short_form(
        "data",
        "method",
        "right before",
        "right after",
        "difference",
        "difference, 95 % interval",
        "members",
        "groups",
    )
)


def _row_before_and_after(run: RecordedRun, members: set[str]) -> Fields | None:
    """Return the row of a run; None if no member has two answers."""
    opinions = stated_answers(run.results)
    of_members = opinions[(opinions["model"] == run.model) & opinions["speaker"].isin(members)]
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
    members_bootstrap = run.results.sample(answers["case_id"]).bootstrap
    groups_bootstrap = run.results.sample(groups["case_id"]).bootstrap
    return {
        "data": run.data,
        "method": run.method,
        "right before": members_bootstrap.estimate(mean_statistic(first, SHARE)),
        "right after": members_bootstrap.estimate(mean_statistic(last, SHARE)),
        "difference": members_bootstrap.estimate(mean_statistic(last - first, BOUNDS)),
        "wrong who end right": members_bootstrap.estimate(_share_among(last, 1 - first)),
        "right who end wrong": members_bootstrap.estimate(_share_among(1 - last, first)),
        "most end right, one was right": groups_bootstrap.estimate(
            _share_among(most_end_right, one_was_right)
        ),
        "most end right, none was": groups_bootstrap.estimate(
            _share_among(most_end_right, 1 - one_was_right)
        ),
        "members": len(answers),
        "groups": len(groups),
        "groups with one right": int(one_was_right.sum()),
    }


def _share_among(values: Floats, among: Floats) -> Statistic:
    return ratio_statistic(values * among, among, SHARE)


CONVERSATIONS = "transcripts", "nyu_debates"
"""Loaders of debates that record answers or beliefs turn by turn."""
ANY_FEATURE = "anything"
CHANGES = (
    (WRONG_ANSWER, RIGHT_ANSWER),
    (RIGHT_ANSWER, WRONG_ANSWER),
    (UNDECIDED, RIGHT_ANSWER),
    (UNDECIDED, WRONG_ANSWER),
)
"""Changes of an answer: the answer before, and the answer after."""


@table(
    STUDY, "changed_answers", "What came before a change of answer or belief", loaders=CONVERSATIONS
)
def changed_answers(results: StudyResults) -> TableContent:
    """Messages before group members and judges changed an answer or belief, compared with messages
    before they kept it; with 95 % intervals by cluster.
    """
    rows: list[Fields] = []
    for run in recorded_runs(results):
        run_occasions = list(find_occasions(run))
        if run_occasions:
            rows += _rows_of_changes(run, run_occasions)
    return _CHANGED_ANSWERS.table(
        rows,
        [
            (
                "An occasion is a message of a member who had an answer and had heard another"
                " member, or a judge's belief that follows an earlier one. `Changes` is the share"
                " of occasions after which the answer is the one in `changes to`. `Heard before` is"
                " the last message of another member, or all public utterances since the judge's"
                " last belief: whether the last speaker holds (or argues for) the right answer, the"
                " kind of utterance, the speaker's role, the length compared with the median, and"
                " whether there are quotations. If both sides spoke, it also says which side used"
                " more words, and which quoted more."
            ),
            (
                "Before a change, before none: how often the feature was heard before occasions"
                " with and without the change. The difference is the first minus the second; it is"
                " 0 if changes are as frequent with the feature as without it. Belief moved is the"
                " mean change of the probability of the right answer, if probabilities were"
                " stated."
            ),
            (
                "These are associations, not causes: speakers, content and length were not assigned"
                " at random."
            ),
        ],
        exploratory=True,
    )


_CHANGED_ANSWERS = (
    Columns()
    .keys("data", "method", "held before", "changes to")
    .plain("heard before")
    .estimate("changes")
    .ours("before a change", "before none")
    .estimate("difference", "difference", digits=SIGNED)
    .estimate("belief moved", "moved", digits=SIGNED)
    .counts("occasions", "changed", "debates")
    .short_form(
        "method",
        "held before",
        "changes to",
        "heard before",
        "changes",
        "95 % interval",
        "before a change",
        "before none",
        "difference",
        "changed",
    )
)


def _rows_of_changes(run: RecordedRun, run_occasions: Sequence[Occasion]) -> Iterator[Fields]:
    """Yield a row for each change and each feature that tells occasions apart."""
    median_words = float(np.median([occasion.word_count for occasion in run_occasions]))
    features = pd.DataFrame(
        [describe_features(occasion, median_words) for occasion in run_occasions]
    )
    frame = pd.DataFrame(run_occasions, columns=Occasion._fields)
    for answer_before, answer_after in CHANGES:
        is_eligible = (frame["answer_before"] == answer_before).to_numpy()
        is_change = (frame["answer_after"] == answer_after).to_numpy()
        row: JsonObject = {
            "data": run.data,
            "method": run.method,
            "held before": answer_before,
            "changes to": answer_after,
        }
        if is_eligible.any():
            cells = _change_cells(run, frame, is_eligible, is_eligible, is_change)
            yield row | {"heard before": ANY_FEATURE} | cells
        for name, value in _contrasting_features(features):
            has_value = (features[name] == value).to_numpy()
            is_known = is_eligible & features[name].notna().to_numpy()
            if not (is_known & has_value).any():
                continue
            cells = _change_cells(run, frame, is_known, is_known & has_value, is_change)
            if not has_value[is_known].all():
                cells["difference"] = _difference_of_shares(
                    run,
                    frame["case_id"][is_eligible],
                    (is_known & has_value)[is_eligible],
                    is_change[is_eligible],
                    is_known[is_eligible],
                )
            yield row | {"heard before": f"{name}: {value}"} | cells


def _contrasting_features(features: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield the name and value of each feature that some occasions do not have."""
    for name in features:
        for value in sorted(features[name].dropna().unique()):
            if (features[name] != value).any():
                yield str(name), value


def _change_cells(
    run: RecordedRun, frame: pd.DataFrame, is_known: Truths, is_heard: Truths, is_change: Truths
) -> JsonObject:
    """Return the cells of one feature.

    Args:
        run: the run.
        frame: its occasions.
        is_known: the occasions whose answer could change in this way and whose feature is known.
        is_heard: those among them before which the feature was heard.
        is_change: the occasions after which the answer is the one changed to.
    """
    case_ids = frame["case_id"]
    belief_changes = as_numbers(frame["belief_change"])
    has_belief = is_heard & ~np.isnan(belief_changes)
    return {
        "changes": mean_by_case(run, case_ids[is_heard], as_numbers(is_change[is_heard]), SHARE),
        "before a change": _share_heard(is_heard, is_known & is_change),
        "before none": _share_heard(is_heard, is_known & ~is_change),
        "belief moved": mean_by_case(run, case_ids[has_belief], belief_changes[has_belief], BOUNDS),
        "occasions": int(is_heard.sum()),
        "changed": int((is_heard & is_change).sum()),
        "debates": frame["debate_id"][is_heard].nunique(),
    }


def _share_heard(is_heard: Truths, among: Truths) -> float | None:
    return float(is_heard[among].mean()) if among.any() else None


def _difference_of_shares(
    run: RecordedRun, case_ids: Column, is_heard: Truths, is_change: Truths, is_known: Truths
) -> tuple[float, float, float]:
    """Return the share of changes before which a feature was heard, minus that share of
    non-changes.
    """
    changes, non_changes = is_known & is_change, is_known & ~is_change
    bootstrap, sums = sum_by_case(
        run,
        case_ids,
        as_numbers(changes & is_heard),
        as_numbers(changes),
        as_numbers(non_changes & is_heard),
        as_numbers(non_changes),
    )

    def difference(weights: Floats) -> Floats:
        changes_heard, all_changes, others_heard, all_others = (
            weights @ case_sums for case_sums in sums
        )
        return ratio(changes_heard, all_changes) - ratio(others_heard, all_others)

    rarer_side = min([sums[1] > 0, sums[3] > 0], key=np.sum)
    return bootstrap.estimate(Statistic(difference, BOUNDS, rarer_side))
