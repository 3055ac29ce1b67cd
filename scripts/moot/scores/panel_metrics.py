"""Metrics of contrasts on a panel: its members' first and last answers in a debate.

"Do the judges agree more after the debate?" compares `agreement_after` with `agreement_before`
(`second_metric`) of one experiment.
"""

from typing import Literal

import pandas as pd

from moot.core.errors import CannotTellError
from moot.core.utterance_kinds import SMOOTHED
from moot.scores.case_metrics import Terms, case_metric
from moot.scores.dynamics import judge_names, stated_answers
from moot.scores.results import ExperimentResults
from moot.stats.arrays import as_numbers

MEMBER = ["debate_id", "speaker"]


@case_metric("panel_accuracy_before")
def panel_accuracy_before(results: ExperimentResults, model: str) -> Terms:
    """Share of a panel's members whose first answer is right; one without a label is wrong."""
    return _accuracy(results, model, "first")


@case_metric("panel_accuracy_after")
def panel_accuracy_after(results: ExperimentResults, model: str) -> Terms:
    """Share of a panel's members whose last answer is right; one without a label is wrong."""
    return _accuracy(results, model, "last")


@case_metric("agreement_before")
def agreement_before(results: ExperimentResults, model: str) -> Terms:
    """Share of pairs of a panel's members whose first answers are equal."""
    return _agreement(results, model, "first")


@case_metric("agreement_after")
def agreement_after(results: ExperimentResults, model: str) -> Terms:
    """Share of pairs of a panel's members whose last answers are equal."""
    return _agreement(results, model, "last")


def answers_of_seats(results: ExperimentResults, model: str) -> pd.DataFrame:
    """Return the answers of seats in debates with at least two, as text in the order of turns.

    Only judges count if several judges answer about a debate, and only the kind of answer that most
    seats give; smoothed beliefs do not count.
    """
    answers = stated_answers(results, model=model)
    answers = answers[answers["kind"] != SMOOTHED]
    answers = answers[["kind", *MEMBER, "case_id", "prediction", "target"]].astype(str)
    if judges := judge_names(results.predictions[results.predictions["model"] == model]):
        answers = answers[answers["speaker"].isin(judges)]
    answers = answers[answers.groupby(["kind", "debate_id"])["speaker"].transform("nunique") > 1]
    kinds = answers.drop_duplicates(["kind", *MEMBER])["kind"].mode()
    return answers[answers["kind"].isin(kinds.head(1))]


def _answers_of_members(
    results: ExperimentResults, model: str, moment: Literal["first", "last"]
) -> pd.DataFrame:
    """Return the first or the last answer of each member in debates with at least two."""
    answers = answers_of_seats(results, model)
    if answers.empty:
        raise CannotTellError(
            f"contrast on the panel of {results.experiment}: no debate has answers of two members."
            " Compare an experiment in which several seats state an answer, such as the protocol"
            " panel."
        )
    return answers.drop_duplicates(MEMBER, keep=moment)


def _accuracy(results: ExperimentResults, model: str, moment: Literal["first", "last"]) -> Terms:
    answers = _answers_of_members(results, model, moment)
    answers = answers[answers["target"] != ""]
    is_right = answers["prediction"] == answers["target"]
    by_debate = is_right.groupby([answers["debate_id"], answers["case_id"]], sort=False)
    return _terms(by_debate.sum(), by_debate.size())


def _agreement(results: ExperimentResults, model: str, moment: Literal["first", "last"]) -> Terms:
    """Return the terms of agreement; a member without an answer has no pair."""
    answers = _answers_of_members(results, model, moment)
    answers = answers[answers["prediction"] != ""]
    debates = [answers["debate_id"], answers["case_id"]]
    members = answers.groupby(debates, sort=False).size()
    counts = answers.groupby([*debates, "prediction"], sort=False).size()
    equal = (counts * (counts - 1)).groupby(level=[0, 1], sort=False).sum()
    return _terms(equal.reindex(members.index), members * (members - 1))


def _terms(tops: pd.Series, bottoms: pd.Series) -> Terms:
    """Return terms in which each debate has the same weight."""
    is_defined = bottoms > 0
    shares = tops.where(is_defined, 0) / bottoms.where(is_defined, 1)
    cases = [str(case) for case in tops.index.get_level_values(1)]
    return Terms(cases, as_numbers(shares)[:, None], as_numbers(is_defined)[:, None])
