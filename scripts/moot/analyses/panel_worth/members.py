"""The answers of a panel's members: of a debate, of several judges, or of repeats of a debate."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from moot.core.utterance_kinds import SMOOTHED
from moot.report.content import Run
from moot.scores.dynamics import judge_names, stated_answers
from moot.stats.bootstrap import Floats, as_numbers

SEPARATOR = " · "
SINGLE, FIRST, LAST = "answers", "first answers", "last answers"
MIDDLE = ("second answers", "third answers", "fourth answers", "fifth answers")
"""The answers between the first and the last that have rows."""
IN_DEBATE, JUDGES, REPEATS = "members of a debate", "judges of a debate", "repeats of a debate"
MIN_NAMED_PANELS = 8
"""The mean number of panels of a name from which each name has an accuracy of its own."""
MAX_NAMES = 20
TRAITS = ("model", "persona", "family")
NO_TRUTH = "no truth: the true labels of the cases are unknown"
ONE_MEMBER = "one member: no case has answers of two members, judges or repeats"
NO_COMMON_CASE = "members on different cases: no two members answer the same case"
_COLUMNS = ["panel", "case_id", "member", "moment", "prediction", "target"]


@dataclass(frozen=True, slots=True)
class Panels:
    """Panels of members at one moment.

    Attributes:
        cases: the case of each panel.
        names: of the members; one name for all members where names rarely recur.
        votes: members of each panel by name and label, shape (panels, names, labels).
        wrong_counts: members of each panel by name who are wrong, shape (panels, names).
    """

    cases: list[str]
    names: tuple[str, ...]
    votes: Floats
    wrong_counts: Floats

    @property
    def members(self) -> Floats:
        """The members of each panel by name, shape (panels, names)."""
        return as_numbers(self.votes.sum(axis=2))

    @property
    def sizes(self) -> Floats:
        """The number of members of each panel."""
        return as_numbers(self.votes.sum(axis=(1, 2)))

    @property
    def right_counts(self) -> Floats:
        """The number of members of each panel who are right."""
        return as_numbers(self.sizes - self.wrong_counts.sum(axis=1))

    @property
    def agreement(self) -> Floats:
        """The share of pairs of members of each panel that agree; 0 without pairs."""
        sizes = self.sizes
        equal_pairs = (self.votes.sum(axis=1) ** 2).sum(axis=1) - sizes
        return as_numbers(equal_pairs / np.maximum(sizes * (sizes - 1), 1))


def gather_members(run: Run) -> tuple[str, pd.DataFrame]:
    """The answers of a run's members.

    Returns:
        What the members are, and a row for each answer: panel, case_id, member, moment, prediction,
        target ("" if unknown). There are no rows where no panel has two members.
    """
    debates = list(_answers_of_debates(run))
    rows = run.valid[~run.valid["case_id"].isna()]
    rows = rows.assign(moment=SINGLE, target=rows["target"].fillna(""))
    names = rows.reindex(columns=["judge", "persona", "judge_repeat"]).astype(object)
    names = names.where(names.notna(), "").astype(str)
    judges = names["judge"].str.cat(names[["persona", "judge_repeat"]], sep=SEPARATOR)
    if len(debates) > 1 or (debates and judges.nunique() < 2):
        return IN_DEBATE, _with_truth(pd.concat(debates)[_COLUMNS].query("prediction != ''"))
    if judges.nunique() > 1:
        kind, panels = JUDGES, rows["case_id"] + "#" + rows["repeat"].astype(str)
    else:
        kind, panels, judges = REPEATS, rows["case_id"], pd.Series("repeat", rows.index)
    rows = rows.assign(member=judges, panel=panels)[_COLUMNS]
    return kind, _with_truth(rows[rows.groupby("panel")["member"].transform("size") > 1])


def _with_truth(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers about cases with a true label; all answers if no case has one."""
    has_truth = answers["target"] != ""
    return answers[has_truth] if has_truth.any() else answers


def _answers_of_debates(run: Run) -> Iterator[pd.DataFrame]:
    """The answers of seats that hold opinions, by the number of opinions that they have stated.

    Only the kind of opinion that most seats hold counts, and only judges where a debate has them.
    """
    opinions = stated_answers(run.results)
    opinions = opinions[(opinions["model"] == run.model) & (opinions["kind"] != SMOOTHED)]
    judges = judge_names(run.predictions)
    if judges:
        opinions = opinions[opinions["speaker"].isin(judges)]
    opinions = opinions.astype({"debate_id": str, "case_id": str, "speaker": str})
    opinions = opinions.rename(columns={"debate_id": "panel", "speaker": "member"})
    members = opinions.groupby(["kind", "panel"], observed=True)["member"].transform("nunique")
    opinions = opinions[members > 1].astype({"kind": str, "prediction": str, "target": str})
    if opinions.empty:
        return
    kinds = opinions.drop_duplicates(["kind", "panel", "member"])["kind"]
    opinions = opinions[opinions["kind"] == kinds.value_counts().idxmax()]
    places = opinions.groupby(["panel", "member"]).cumcount()
    rounds = int(places.max()) + 1
    moments = list(enumerate((FIRST, *MIDDLE), start=1))[: rounds - 1]
    for count, moment in [*moments, (rounds, LAST if moments else SINGLE)]:
        seats = opinions[places < count].groupby(["panel", "member"], sort=False)
        yield seats.tail(1).assign(moment=moment)


def build_panels(answers: pd.DataFrame, moment: str) -> Panels:
    """The panels of some answers at a moment, in the order of their names."""
    answers = answers[answers["moment"] == moment].sort_values("panel", kind="stable")
    members = answers["member"]
    panels_of_name = answers.groupby("member")["panel"].nunique()
    if len(panels_of_name) > MAX_NAMES or panels_of_name.mean() < MIN_NAMED_PANELS:
        members = pd.Series("member", answers.index)
    panel_codes, panels = pd.factorize(answers["panel"])
    name_codes, names = pd.factorize(members, sort=True)
    label_codes, labels = pd.factorize(answers["prediction"], sort=True)
    votes = np.zeros((len(panels), len(names), len(labels)))
    wrong_counts = np.zeros((len(panels), len(names)))
    np.add.at(votes, (panel_codes, name_codes, label_codes), 1)
    np.add.at(wrong_counts, (panel_codes, name_codes), answers["prediction"] != answers["target"])
    return Panels(
        list(answers.drop_duplicates("panel")["case_id"]), tuple(names), votes, wrong_counts
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
    """What a run lacks for a full row; "" if nothing.

    The cases may share one true label, for example `right` for every group that solves a puzzle.
    """
    if run.results.task.multilabel:
        return "a single label: cases have several labels at once"
    if answers.empty:
        return NO_COMMON_CASE if run.predictions["judge"].nunique() > 1 else ONE_MEMBER
    return NO_TRUTH if (answers["target"] == "").all() else ""
