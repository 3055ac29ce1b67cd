"""The answers of a panel's members: of a debate, of several judges, or of repeats of a debate."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from moot.core.utterance_kinds import SMOOTHED
from moot.report.content import Run
from moot.scores.dynamics import judge_names, stated_answers
from moot.stats.bootstrap import Floats, as_numbers

SEPARATOR = " · "
SINGLE, FIRST, LAST = "answers", "first answers", "last answers"
IN_DEBATE, JUDGES, REPEATS = "members of a debate", "judges of a debate", "repeats of a debate"
MIN_MEMBERS = 2
MIN_NAMED_PANELS = 8
"""Panels in which a name must occur on average for its own accuracy to be estimated."""
MAX_NAMES = 20
MAX_ROUNDS = 6
"""Rounds that have rows of their own; between the first and the last, the earliest ones."""
TRAITS = ("model", "persona", "family")
NO_TRUTH = "no truth: the true labels of the cases are unknown"
ONE_MEMBER = "one member: no case has answers of two members, judges or repeats"
NO_COMMON_CASE = "members on different cases: no two members answer the same case"


@dataclass(frozen=True, slots=True)
class Panels:
    """Panels of members at one moment, one row a panel.

    Attributes:
        moment: when they answer.
        cases: the case of each panel.
        members: members of each panel by name, shape (panels, names); one name for all members
            where names rarely recur.
        wrong: how many of these members are wrong, in the same shape.
        agreement: the share of pairs of members of each panel that agree.
        names: of the members, one a column of `members`.
    """

    moment: str
    cases: list[str]
    members: Floats
    wrong: Floats
    agreement: Floats
    names: tuple[str, ...] = ()

    @property
    def sizes(self) -> Floats:
        """The number of members of each panel."""
        return as_numbers(self.members.sum(axis=1))

    @property
    def right(self) -> Floats:
        """The number of members of each panel who are right."""
        return as_numbers(self.sizes - self.wrong.sum(axis=1))


def gather_members(run: Run) -> tuple[str, pd.DataFrame]:
    """The answers of a run's members.

    Returns:
        What the members are, and a row an answer: panel, case_id, member, moment, prediction,
        target; without rows where no panel has two members.
    """
    rows = run.predictions
    rows = rows[(rows["status"] == "valid") & ~rows["case_id"].isna()]
    rows = rows.assign(moment=SINGLE, target=rows["target"].fillna(""))
    names = rows.reindex(columns=["judge", "persona", "judge_repeat"]).astype(object)
    names = names.where(names.notna(), "").astype(str)
    judge_names = names["judge"].str.cat(names[["persona", "judge_repeat"]], sep=SEPARATOR)
    columns = ["panel", "case_id", "member", "moment", "prediction", "target"]
    talk = _members_of_debates(run)
    if len(talk) and (talk["moment"] == LAST).any():
        return IN_DEBATE, talk[columns]
    if judge_names.nunique() > 1:
        panel = rows["case_id"] + "#" + rows["repeat"].astype(str)
        return JUDGES, _with_companions(rows.assign(member=judge_names, panel=panel)[columns])
    if len(talk):
        return IN_DEBATE, talk[columns]
    if rows["repeat"].nunique() > 1:
        repeats = rows.assign(member="repeat", panel=rows["case_id"])
        return REPEATS, _with_companions(repeats[columns])
    return REPEATS, rows.assign(member="", panel="")[columns].head(0)


def _with_companions(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers in panels of at least two members."""
    return answers[answers.groupby("panel")["member"].transform("size") >= MIN_MEMBERS]


def _members_of_debates(run: Run) -> pd.DataFrame:
    opinions = stated_answers(run.results)
    opinions = opinions[(opinions["model"] == run.model) & (opinions["kind"] != SMOOTHED)]
    judges = judge_names(run.predictions[run.predictions["model"] == run.model])
    if judges:
        opinions = opinions[opinions["speaker"].isin(judges)]
    opinions = opinions.astype({"speaker": str, "kind": str, "target": str, "prediction": str})
    opinions = opinions.assign(panel=opinions["debate_id"].astype(str), member=opinions["speaker"])
    opinions["case_id"] = opinions["case_id"].astype(str)
    members = opinions.groupby(["kind", "panel"])["member"].transform("nunique")
    opinions = opinions[members >= MIN_MEMBERS]
    if opinions.empty:
        return opinions
    kind = opinions.drop_duplicates(["kind", "panel", "member"])["kind"].value_counts().idxmax()
    opinions = opinions[opinions["kind"] == kind]
    seats = opinions.groupby(["panel", "member"], sort=False)
    rounds = int(seats.size().max())
    answers = [seats.head(1).assign(moment=SINGLE if rounds == 1 else FIRST)]
    for number in range(2, min(rounds, MAX_ROUNDS)):
        held_answers = opinions[seats.cumcount() < number].groupby(["panel", "member"], sort=False)
        answers.append(held_answers.tail(1).assign(moment=f"answers {number}"))
    if rounds > 1:
        answers.append(seats.tail(1).assign(moment=LAST))
    return pd.concat(answers).query("prediction != ''")


def build_panels(answers: pd.DataFrame, moment: str) -> Panels:
    """The panels of some answers at a moment, in the order of their names."""
    answers = answers[answers["moment"] == moment].sort_values("panel", kind="stable")
    names = answers["member"]
    panels_a_name = answers.groupby("member")["panel"].nunique()
    if len(panels_a_name) > MAX_NAMES or panels_a_name.mean() < MIN_NAMED_PANELS:
        names = pd.Series("member", answers.index)
    is_wrong = (answers["prediction"] != answers["target"]).astype(float)
    keys = [answers["panel"], names.rename("name")]
    members = is_wrong.groupby(keys).size().unstack(fill_value=0)
    wrong = is_wrong.groupby(keys).sum().unstack(fill_value=0)
    votes = answers.groupby(["panel", "prediction"]).size().unstack(fill_value=0)
    sizes = members.sum(axis=1)
    agreeing = (votes**2).sum(axis=1) - sizes
    return Panels(
        moment,
        list(answers.drop_duplicates("panel").set_index("panel")["case_id"][members.index]),
        as_numbers(members),
        as_numbers(wrong),
        as_numbers(agreeing / np.maximum(sizes * (sizes - 1), 1)),
        tuple(members.columns),
    )


def member_traits(run: Run, answers: pd.DataFrame) -> pd.DataFrame:
    """The model, persona and family of each named member, by name; "" where it has none.

    A family is the letters with which the model's name starts, for example `gpt`.
    """
    names = answers["member"].drop_duplicates()
    parts = names.str.split(SEPARATOR, regex=False, expand=True)
    models = parts[0]
    if 1 not in parts:  # seats of a debate, or repeats
        seats = run.params.get("seats", {})
        models = models.map(lambda seat: seats.get(seat, run.model))
    families = models.str.extract(r"^([A-Za-z]+)", expand=False).fillna("").str.lower()
    traits = pd.DataFrame({"model": models, "persona": parts.get(1, ""), "family": families})
    return traits.set_index(names)


def missing_reason(run: Run, answers: pd.DataFrame) -> str:
    """What keeps a panel from being measured; "" if nothing does.

    The cases may share one true label, for example `right` for every group that solves a puzzle.
    """
    if run.results.task.multilabel:
        return "a single label: cases have several labels at once"
    if answers.empty:
        is_crossed = run.predictions["judge"].nunique() > 1
        return NO_COMMON_CASE if is_crossed else ONE_MEMBER
    return NO_TRUTH if (answers["target"] == "").all() else ""
