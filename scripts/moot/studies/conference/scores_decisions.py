"""Which errors the judge of agreement makes; grades that a second model gives to its decisions
(Table 5), and how far such grades can be trusted.

Ending a debate too early costs what was never said; letting it go on too long costs rounds. Section
5.1.3 of the paper argues that the first is worse. An unusable answer is more debate, as in the
conference, so it can only be an error of the second kind.

Two checks of grades that the paper does not make: the same decision graded twice (do the grades
agree with themselves?), and the opposite decision graded too (does the grader see the difference?).
On the data set `agreement` the opposite is known to be wrong; in a conference it is merely the
other answer.
"""

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.core.kinds import GRADE, GRADE_REVERSED, UNUSABLE
from moot.scores import by_model, no_scores, scorer
from moot.scores.groups import Group, by_group
from moot.scores.results import ExperimentResults, Score
from moot.stats.bootstrap import SHARE, share_statistic
from moot.studies.conference.data_agreement import AGREEMENT
from moot.studies.conference.scores_conference import mean_score, sample_debates

PROTOCOLS = ("conference", "grading")
MIN_SPREAD = 1e-9


@scorer("agreement")
def agreement_scores(results: ExperimentResults) -> pd.DataFrame:
    """Both error rates by model and group."""
    return (
        by_group(results, _error_rates) if results.config.protocol == "agreement" else no_scores()
    )


def _error_rates(results: ExperimentResults, group: Group) -> Iterator[Score]:
    cases = group.rows["case_id"].to_numpy()
    is_ended = group.valid & np.asarray(group.rows["prediction"] == AGREEMENT)
    is_agreement = np.asarray(group.rows["target"] == AGREEMENT)
    for metric, is_error, is_eligible in (
        ("ends_too_early", is_ended & ~is_agreement, ~is_agreement),
        ("goes_on_too_long", ~is_ended & is_agreement, is_agreement),
    ):
        yield results.sample(cases[is_eligible]).score(
            metric, share_statistic(is_error[is_eligible]), group.name, n_invalid=group.n_invalid
        )


@scorer("grading")
def grading(results: ExperimentResults) -> pd.DataFrame:
    """Mean grades by decision and overall, and the grader's reliability, for each model."""
    if results.config.protocol not in PROTOCOLS:
        return no_scores()
    grades = results.gather(read_grades, ["repeat", "round", "kind", "parse_status", "parsed"])
    return by_model(results, lambda model: _grade_scores(results, grades[grades["model"] == model]))


def read_grades(transcripts: pd.DataFrame) -> pd.DataFrame:
    """One row a grading: model, case_id, debate_id, turn, repeat, number (of the decision), kind,
    nth, grade or NaN.
    """
    rows = transcripts[transcripts["kind"].isin([GRADE, GRADE_REVERSED])]
    usable = ~rows["parse_status"].isin(UNUSABLE)
    grades = (
        rows.loc[usable, "parsed"].map(lambda parsed: json.loads(parsed)["grade"]).astype("float64")
    )
    keys = ["model", "case_id", "debate_id", "repeat", "round", "kind"]
    gradings = rows[[*keys, "turn"]].assign(grade=grades, nth=rows.groupby(keys).cumcount() + 1)
    return gradings.rename(columns={"round": "number"})


def _grade_scores(results: ExperimentResults, grades: pd.DataFrame) -> Iterator[Score]:
    if grades.empty:
        return
    for kind in ("grade", "grade_reversed"):
        values = grades[grades["kind"] == kind].set_index("debate_id")
        if values["grade"].notna().any():
            yield mean_score(results, kind, values["grade"])
            if kind == GRADE and results.config.protocol == "conference":
                for number, rows in values.groupby("number"):
                    yield mean_score(results, kind, rows["grade"], f"decision={number}")
    decisions = ["debate_id", "number"]
    means = (
        grades.groupby([*decisions, "kind"])["grade"]
        .mean()
        .unstack()
        .reset_index("number", drop=True)
    )
    if {"grade", "grade_reversed"} <= set(means.columns):
        margin = means["grade"] - means["grade_reversed"]
        if margin.notna().any():
            share_above = ((margin > 0) + 0.5 * (margin == 0)).where(margin.notna())
            yield mean_score(results, "grade_margin", margin)
            yield mean_score(results, "graded_above_reversed", share_above, bounds=SHARE)
    gradings = grades.set_index([*decisions, "kind", "nth"])["grade"].unstack()
    if {1, 2} <= set(gradings.columns):
        yield from _regrade_scores(
            results, gradings[[1, 2]].reset_index(["number", "kind"], drop=True)
        )


def _regrade_scores(results: ExperimentResults, pairs: pd.DataFrame) -> Iterator[Score]:
    """How far apart the first and second grade of the same decision are, and their correlation."""
    complete = pairs.dropna()
    if complete.empty:
        return
    yield mean_score(results, "regrade_difference", (pairs[1] - pairs[2]).abs())
    has_spread = complete.std(ddof=0).min() > MIN_SPREAD
    correlation = float(np.corrcoef(complete[1], complete[2])[0, 1]) if has_spread else float("nan")
    invalid = len(pairs) - len(complete)
    yield sample_debates(results, complete.index).count(
        "regrade_correlation", correlation, n_invalid=invalid
    )
