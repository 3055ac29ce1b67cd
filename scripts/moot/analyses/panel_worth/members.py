"""The answers of a panel's members: of a debate, of several judges, or of repeats of a debate."""

from collections.abc import Iterator

import pandas as pd

from moot.report.notes import NO_TRUTH
from moot.report.study_results import Run
from moot.scores.panel_metrics import answers_of_seats

SEPARATOR = " · "
SINGLE, FIRST, LAST = "answers", "first answers", "last answers"
MIDDLE = ("second answers", "third answers", "fourth answers", "fifth answers")
"""The answers between the first and the last that have rows."""
ONE_MEMBER = "two members: no case has answers with a label of two members, judges or repeats"


def gather_members(run: Run) -> tuple[str, pd.DataFrame, str]:
    """Return the answers of a run's members, in panels of at least two.

    Returns:
        The kind of the members; a row for each answer, with its panel, case_id, member, moment,
        prediction and target ("" if unknown); the reason why a measure is missing, or "". Cases
        without a true label are left out if others have one. All cases may have the same true
        label, such as `right` for groups that solve a puzzle.
    """
    debates = list(_answers_of_debates(run))
    rows = run.valid[run.valid["case_id"].notna()]
    names = rows[["judge", "persona", "judge_repeat"]].astype(object).fillna("").astype(str)
    judges = (names["judge"] + SEPARATOR + names["persona"]).str.strip(SEPARATOR)
    has_judges = judges.nunique() > 1
    if len(debates) > 1 or (debates and not has_judges):
        kind, answers = "members of a debate", pd.concat(debates).query("prediction != ''")
    else:
        kind = "judges of a debate" if has_judges else "repeats of a debate"
        panels = rows["case_id"]
        if has_judges:  # the same judge who is asked again belongs to another panel
            panels = panels + "#" + rows["repeat"].astype(str) + "#" + names["judge_repeat"]
        answers = rows.assign(panel=panels, member=judges, moment=SINGLE)
        answers = answers[answers.groupby("panel")["panel"].transform("size") > 1]
    answers = answers.fillna({"target": ""})
    has_truth = answers["target"] != ""
    if run.results.task.multilabel:
        reason = "a single label: cases have several labels at once"
    elif answers.empty:
        reason = ONE_MEMBER
    else:
        reason = "" if has_truth.any() else NO_TRUTH
    return kind, answers[has_truth] if has_truth.any() else answers, reason


def _answers_of_debates(run: Run) -> Iterator[pd.DataFrame]:
    """Yield the answers of seats after each number of stated opinions.

    Only the most frequent kind of opinion counts, and only judges if the debate has judges.
    """
    opinions = answers_of_seats(run.results, run.model)
    opinions = opinions.rename(columns={"debate_id": "panel", "speaker": "member"})
    opinions = opinions[opinions.groupby(["kind", "panel"])["member"].transform("nunique") > 1]
    if opinions.empty:
        return
    kinds = opinions.drop_duplicates(["kind", "panel", "member"])["kind"]
    opinions = opinions[opinions["kind"] == kinds.value_counts().idxmax()]
    places = opinions.groupby(["panel", "member"]).cumcount()
    rounds = int(places.max()) + 1
    moments = dict(enumerate((FIRST, *MIDDLE)[: rounds - 1], start=1))
    moments[rounds] = LAST if moments else SINGLE
    for count, moment in moments.items():
        answers = opinions[places < count].drop_duplicates(["panel", "member"], keep="last")
        yield answers.assign(moment=moment)
