"""Tables of groups that talk, each member with an answer: before and after, and whose message came before a change."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import pandas as pd

from moot.core.kinds import CONCLUSION, PUBLIC
from moot.core.types import Fields, Json
from moot.report import table
from moot.report.columns import DIFFERENCE, SIGNED, Columns
from moot.report.content import StudyResults, TableContent
from moot.scores.dynamics import stated_predictions
from moot.stats.bootstrap import DIFFERENCE as BOUNDS
from moot.stats.bootstrap import SHARE, ClusterBootstrap, Floats, Statistic, as_numbers, mean_statistic, ratio_statistic
from moot.studies.recorded.runs import STUDY, RecordedRun, recorded_runs

RIGHT, WRONG, UNKNOWN = "right", "wrong", "no answer"
_SAID = ["debate_id", "case_id", "turn", "speaker", "visibility", "kind", "text", "prediction"]


class Heard(NamedTuple):
    """A member's message: what they held before, who spoke last among the others, and what they held after it."""

    case_id: str
    held: str
    heard: str
    kind: str
    changed: bool


def members(run: RecordedRun) -> set[str]:
    """Who has an answer of their own in debates in which others speak, where the truth is known; else empty."""
    named = set(run.predictions["judge"].dropna()) if "judge" in run.predictions else set()
    if not named or not (run.predictions["target"] != "").all():
        return set()
    opinions = stated_predictions(run.results)
    heard = opinions[(opinions["model"] == run.model) & opinions["speaker"].isin(named) & (opinions["after"] != "")]
    return named if len(heard) else set()


@table(STUDY, "discussions", "Answers of a group's members before and after they talk", loaders=("transcripts",))
def discussions(results: StudyResults) -> TableContent:
    """How often members of a group are right before the group talks and after it, who changed their answer, and whether
    one who was right won the others over; with 95 % intervals by group.
    """
    rows = [row for run in recorded_runs(results) if (named := members(run)) and (row := _before_and_after(run, named))]
    columns = Columns().keys("data", "method").estimate("right before", "before").estimate("right after", "after")
    columns = columns.estimate("difference", "difference", role=DIFFERENCE, digits=SIGNED)
    columns = columns.estimate("wrong who end right", "to right").estimate("right who end wrong", "to wrong")
    columns = columns.estimate("most end right, one was right", "one").estimate("most end right, none was", "none")
    columns = columns.counts("members", "groups", "groups with one right")
    short = ("right before", "right after", "difference", "difference, 95 % interval", "members", "groups")
    return columns.short_form("data", "method", *short).table(
        rows,
        [
            "Before and after are the first and the last answer of each member who has both; the difference is after "
            "less before. `Most end right` is the share of groups of whose members more than half end on the right "
            "answer: among groups with a member who was right at first, and among those without one."
        ],
    )


def _before_and_after(run: RecordedRun, named: set[str]) -> Fields | None:
    opinions = stated_predictions(run.results)
    mine = opinions[(opinions["model"] == run.model) & opinions["speaker"].isin(named)]
    both = mine[mine.duplicated(["debate_id", "speaker"], keep=False)].groupby(["debate_id", "speaker"], sort=True)
    ends = pd.DataFrame(
        {"case_id": both["case_id"].first(), "first": both["correct"].first(), "last": both["correct"].last()}
    )
    if ends.empty:
        return None
    first, last = (ends[name].to_numpy(dtype=float) for name in ("first", "last"))
    groups = ends.groupby("debate_id").agg({"case_id": "first", "first": "max", "last": "mean"})
    won = as_numbers(groups["last"] > 0.5)  # noqa: PLR2004 - more than half
    one = groups["first"].to_numpy(dtype=float)
    by_member, by_group = (
        ClusterBootstrap([run.results.clusters[case] for case in frame["case_id"]], run.results.seed)
        for frame in (ends, groups)
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


@table(
    STUDY,
    "changed_answers",
    "What a member of a group had heard last when the answer changed",
    loaders=("transcripts",),
)
def changed_answers(results: StudyResults) -> TableContent:
    """How often a member's answer is another one after a message of theirs, by what they held before and by the last
    message of the others: whether its speaker held the right answer, and its kind; with 95 % intervals by group.
    """
    rows = [row for run in recorded_runs(results) if (named := members(run)) for row in _changes(run, named)]
    return (
        Columns()
        .keys("data", "method", "held before")
        .plain("last message of the others")
        .estimate("changes")
        .counts("messages", "changed", "groups")
        .table(
            rows,
            [
                "A row counts messages of members who had an answer and had heard another member: changes is the share "
                "after which their answer was a right one instead of a wrong one, or the reverse. Who persuades is not "
                "drawn by lot, so that a difference between rows is not by itself an effect of the message."
            ],
        )
    )


def _changes(run: RecordedRun, named: set[str]) -> Iterator[Fields]:
    found = pd.DataFrame(_heard(run, named), columns=Heard._fields)
    for held in (WRONG, RIGHT):
        mine = found[found["held"] == held]
        answers = [(f"its speaker: {answer}", mine[mine["heard"] == answer]) for answer in (RIGHT, WRONG, UNKNOWN)]
        kinds = [(f"its kind: {kind}", rows) for kind, rows in mine.groupby("kind", sort=True)]
        for what, rows in (("any", mine), *answers, *(kinds if len(kinds) > 1 else [])):
            if rows.empty:
                continue
            bootstrap = ClusterBootstrap([run.results.clusters[case] for case in rows["case_id"]], run.results.seed)
            yield {
                "data": run.data,
                "method": run.method,
                "held before": held,
                "last message of the others": what,
                "changes": bootstrap.estimate(mean_statistic(as_numbers(rows["changed"]), SHARE)),
                "messages": len(rows),
                "changed": int(rows["changed"].sum()),
                "groups": rows["case_id"].nunique(),
            }


def _heard(run: RecordedRun, named: set[str]) -> Iterator[Heard]:
    """Every message of a member who had an answer, after another member had spoken."""
    targets = {str(case): target for case, target in run.results.cases[["case_id", "target"]].itertuples(index=False)}
    for part in run.results.parts(_SAID, run.model):
        rows = part[part["kind"] != CONCLUSION].to_dict("records")
        for _, debate in groupby(rows, itemgetter("debate_id")):
            yield from _heard_in(list(debate), named, targets)


def _heard_in(rows: list[Json], named: set[str], targets: Fields) -> Iterator[Heard]:
    holds: dict[str, str] = {}
    spoken: list[tuple[str, str]] = []  # the last message, and the last one of somebody else
    pending: tuple[str, Heard] | None = None
    for row in rows:
        speaker, target = row["speaker"], targets[row["case_id"]]
        if row["text"] and row["visibility"] == PUBLIC and speaker in named:
            if pending:
                yield pending[1]
            others = [one for one in spoken if one[0] != speaker]
            pending = None
            if others and holds.get(speaker):
                heard = holds.get(others[0][0], UNKNOWN)
                pending = speaker, Heard(row["case_id"], holds[speaker], heard, others[0][1], changed=False)
            spoken = [(speaker, row["kind"]), *others[:1]]
        if row["prediction"]:
            now = RIGHT if row["prediction"] == target else WRONG
            if pending and pending[0] == speaker and now != pending[1].held:
                pending = speaker, pending[1]._replace(changed=True)
            holds[speaker] = now
    if pending:
        yield pending[1]
