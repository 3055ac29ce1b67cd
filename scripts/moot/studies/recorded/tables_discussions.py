"""Tables of answers before and after people talk, and of what members and judges heard before they
changed theirs.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from moot.core.types import Fields, JsonObject
from moot.report import table
from moot.report.columns import DIFFERENCE, SIGNED, Columns
from moot.report.content import StudyResults, TableContent
from moot.scores.dynamics import stated_predictions
from moot.stats.bootstrap import DIFFERENCE as BOUNDS
from moot.stats.bootstrap import (
    SHARE,
    Bounds,
    ClusterBootstrap,
    Column,
    Floats,
    Statistic,
    Truths,
    as_numbers,
    mean_statistic,
    ratio,
    ratio_statistic,
)
from moot.studies.recorded.occasions import (
    RIGHT,
    UNDECIDED,
    WRONG,
    Occasion,
    features,
    members,
    occasions,
)
from moot.studies.recorded.runs import STUDY, RecordedRun, recorded_runs


@table(
    STUDY,
    "discussions",
    "Answers of a group's members before and after they talk",
    loaders=("transcripts",),
)
def discussions(results: StudyResults) -> TableContent:
    """How often members of a group are right before the group talks and after it, who changed their
    answer, and whether one who was right won the others over; with 95 % intervals by group.
    """
    rows = [
        row
        for run in recorded_runs(results)
        if (named := members(run)) and (row := _before_and_after(run, named))
    ]
    columns = (
        Columns()
        .keys("data", "method")
        .estimate("right before", "before")
        .estimate("right after", "after")
    )
    columns = columns.estimate("difference", "difference", role=DIFFERENCE, digits=SIGNED)
    columns = columns.estimate("wrong who end right", "to right").estimate(
        "right who end wrong", "to wrong"
    )
    columns = columns.estimate("most end right, one was right", "one").estimate(
        "most end right, none was", "none"
    )
    columns = columns.counts("members", "groups", "groups with one right")
    short = (
        "right before",
        "right after",
        "difference",
        "difference, 95 % interval",
        "members",
        "groups",
    )
    return columns.short_form("data", "method", *short).table(
        rows,
        [
            "Before and after are the first and the last answer of each member who has both; the"
            " difference is after less before. `Most end right` is the share of groups of whose"
            " members more than half end on the right answer: among groups with a member who was"
            " right at first, and among those without one."
        ],
    )


def _before_and_after(run: RecordedRun, named: set[str]) -> Fields | None:
    opinions = stated_predictions(run.results)
    mine = opinions[(opinions["model"] == run.model) & opinions["speaker"].isin(named)]
    both = mine[mine.duplicated(["debate_id", "speaker"], keep=False)].groupby(
        ["debate_id", "speaker"], sort=True
    )
    ends = pd.DataFrame(
        {
            "case_id": both["case_id"].first(),
            "first": both["correct"].first(),
            "last": both["correct"].last(),
        }
    )
    if ends.empty:
        return None
    first, last = (ends[name].to_numpy(dtype=float) for name in ("first", "last"))
    groups = ends.groupby("debate_id").agg({"case_id": "first", "first": "max", "last": "mean"})
    won = as_numbers(groups["last"] > 0.5)  # noqa: PLR2004 - more than half
    one = groups["first"].to_numpy(dtype=float)
    by_member, by_group = (
        run.results.sample(frame["case_id"]).bootstrap for frame in (ends, groups)
    )
    return {
        "data": run.data,
        "method": run.method,
        "right before": by_member.estimate(mean_statistic(first, SHARE)),
        "right after": by_member.estimate(mean_statistic(last, SHARE)),
        "difference": by_member.estimate(mean_statistic(last - first, BOUNDS)),
        "wrong who end right": by_member.estimate(_share(last, 1 - first)),
        "right who end wrong": by_member.estimate(_share(1 - last, first)),
        "most end right, one was right": by_group.estimate(_share(won, one)),
        "most end right, none was": by_group.estimate(_share(won, 1 - one)),
        "members": len(ends),
        "groups": len(groups),
        "groups with one right": int(one.sum()),
    }


def _share(of: Floats, among: Floats) -> Statistic:
    return ratio_statistic(of * among, among, SHARE)


CONVERSATIONS = "transcripts", "nyu_debates"
"""Loaders of debates in which answers or beliefs are known turn by turn."""
ANY = "anything"


@table(
    STUDY, "changed_answers", "What came before a change of answer or belief", loaders=CONVERSATIONS
)
def changed_answers(results: StudyResults) -> TableContent:
    """What members of groups and judges had heard before they changed an answer or belief, beside
    what they had heard before they kept it; with 95 % intervals by cluster.
    """
    rows = [
        row
        for run in recorded_runs(results)
        if (some := list(occasions(run)))
        for row in _changes(run, some)
    ]
    columns = (
        Columns()
        .keys("data", "method", "held before", "changes to")
        .plain("heard before")
        .estimate("changes")
    )
    columns = columns.ours("before a change", "before none").estimate(
        "difference", "difference", digits=SIGNED
    )
    columns = columns.estimate("belief moved", "moved", digits=SIGNED).counts(
        "occasions", "changed", "debates"
    )
    short = ("changes", "95 % interval", "before a change", "before none", "difference", "changed")
    return columns.short_form("method", "held before", "changes to", "heard before", *short).table(
        rows,
        [
            (
                "An occasion is a message of a member who had an answer and had heard another"
                " member, or a judge's belief that follows an earlier one. `Changes` is the share"
                " of occasions after which the answer is the one in `changes to`. Heard before is"
                " the last message of another member, or all that was said in public since the"
                " judge's last belief: whether its speaker holds (or argues for) the right answer,"
                " its kind, the speaker's role, its length against the median, and whether it"
                " quotes; where both sides spoke, which side used more words, and quoted more."
            ),
            (
                "Before a change, before none: how often that was heard before occasions with and"
                " without the change; difference is the first less the second, 0 if hearing it goes"
                " with no more changes. Belief moved is the mean change of the probability of the"
                " right answer, where beliefs were stated."
            ),
            (
                "What came before a change is not thereby its cause: who spoke, what, and how long"
                " was not drawn by lot."
            ),
        ],
        exploratory=True,
    )


def _changes(run: RecordedRun, some: Sequence[Occasion]) -> Iterator[Fields]:
    typical = float(np.median([one.words for one in some]))
    told = pd.DataFrame([features(one, typical) for one in some])
    frame = pd.DataFrame(some, columns=Occasion._fields)
    moved = as_numbers(frame["moved"])
    for held, to in ((WRONG, RIGHT), (RIGHT, WRONG), (UNDECIDED, RIGHT), (UNDECIDED, WRONG)):
        mine, changed = (frame["held"] == held).to_numpy(), (frame["now"] == to).to_numpy()
        values = [(name, value) for name in told for value in sorted(told[name].dropna().unique())]
        told_apart = [(name, value) for name, value in values if (told[name] != value).any()]
        for name, value in [("", ANY), *told_apart]:
            among = mine & told[name].notna().to_numpy() if name else mine
            kept = among & (told[name] == value).to_numpy() if name else mine
            if not kept.any():
                continue
            stated, some_lack = kept & ~np.isnan(moved), (kept != among).any()
            sides, cases = (among & changed, among & ~changed), frame["case_id"]
            row: JsonObject = {
                "data": (run.data, run.method, held, to, f"{name}: {value}" if name else value),
                "changes": _mean(run, cases[kept], as_numbers(changed[kept]), SHARE),
                "before a change": tuple(
                    float(kept[rows].mean()) if rows.any() else None for rows in sides
                ),
                "belief moved": _mean(run, cases[stated], moved[stated], BOUNDS),
                "occasions": (
                    int(kept.sum()),
                    int((kept & changed).sum()),
                    frame["debate_id"][kept].nunique(),
                ),
            }
            if some_lack:
                row["difference"] = _apart(run, cases[mine], kept[mine], changed[mine], among[mine])
            yield row


def _mean(
    run: RecordedRun, cases: Column, values: Floats, bounds: Bounds
) -> tuple[float, float, float]:
    bootstrap, [sums, counts] = _by_case(run, cases, values, np.ones(len(values)))
    return bootstrap.estimate(ratio_statistic(sums, counts, bounds))


def _apart(
    run: RecordedRun, cases: Column, heard: Truths, changed: Truths, among: Truths
) -> tuple[float, float, float]:
    """How much more often something was heard before a change than before none."""
    sides = [(among & rows & heard, among & rows) for rows in (changed, ~changed)]
    bootstrap, sums = _by_case(run, cases, *(as_numbers(one) for side in sides for one in side))

    def difference(weights: Floats) -> Floats:
        before, of_changes, none, of_others = (weights @ one for one in sums)
        return ratio(before, of_changes) - ratio(none, of_others)

    return bootstrap.estimate(Statistic(difference, BOUNDS))


def _by_case(
    run: RecordedRun, cases: Column, *values: Floats
) -> tuple[ClusterBootstrap, list[Floats]]:
    """Sums of values by case, so that many occasions of few cases are resampled as these few."""
    codes, named = pd.factorize(cases, sort=True)
    sums = [as_numbers(np.bincount(codes, one, len(named))) for one in values]
    return run.results.sample(named).bootstrap, sums
