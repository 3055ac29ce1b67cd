"""Errors of the judge of agreement, and the grades of conferences' decisions."""

import json
from collections.abc import Iterator
from operator import itemgetter

import numpy as np
import pandas as pd

from moot.core.utterance_kinds import GRADE, GRADE_REVERSED, UNUSABLE
from moot.scores import by_model, no_scores, scorer
from moot.scores.groups import Group, by_group
from moot.scores.results import ExperimentResults
from moot.scores.score import Score
from moot.stats.statistic import SHARE, Bounds, share_statistic
from moot.studies.conference.data_agreement import AGREEMENT
from moot.studies.conference.forms import MAX_GRADE
from moot.studies.conference.scores_conference import CONFERENCES, mean_score, sample_debates

PROTOCOLS = (*CONFERENCES, "grading")
MIN_SPREAD = 1e-9
GRADES: Bounds = (0.0, float(MAX_GRADE))
GRADE_MARGINS: Bounds = (-float(MAX_GRADE), float(MAX_GRADE))


@scorer("agreement")
def agreement_scores(results: ExperimentResults) -> pd.DataFrame:
    """Error rates of the judge of agreement in both directions, by model and group."""
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
    """Return the grades of decisions.

    Returns:
        One row a grading: model, case_id, debate_id, turn, repeat, number (of the decision), kind,
        nth (from 1), grade (NaN if unusable).
    """
    rows = transcripts[transcripts["kind"].isin([GRADE, GRADE_REVERSED])]
    is_usable = ~rows["parse_status"].isin(UNUSABLE)
    usable_forms = rows.loc[is_usable, "parsed"].map(json.loads)
    grades = usable_forms.map(itemgetter("grade")).astype("float64")
    keys = ["model", "case_id", "debate_id", "repeat", "round", "kind"]
    gradings = rows[[*keys, "turn"]].assign(grade=grades, nth=rows.groupby(keys).cumcount() + 1)
    return gradings.rename(columns={"round": "number"})


def _grade_scores(results: ExperimentResults, grades: pd.DataFrame) -> Iterator[Score]:
    if grades.empty:
        return
    for kind in (GRADE, GRADE_REVERSED):
        values = grades[grades["kind"] == kind].set_index("debate_id")
        if values["grade"].notna().any():
            yield mean_score(results, kind, values["grade"], bounds=GRADES)
            if kind == GRADE and results.config.protocol in CONFERENCES:
                for number, rows in values.groupby("number"):
                    group = f"decision={number}"
                    yield mean_score(results, kind, rows["grade"], group, bounds=GRADES)
    decisions = ["debate_id", "number"]
    means = (
        grades.groupby([*decisions, "kind"])["grade"]
        .mean()
        .unstack()
        .reset_index("number", drop=True)
    )
    if {GRADE, GRADE_REVERSED} <= set(means.columns):
        margin = means[GRADE] - means[GRADE_REVERSED]
        if margin.notna().any():
            share_above = ((margin > 0) + 0.5 * (margin == 0)).where(margin.notna())
            yield mean_score(results, "grade_margin", margin, bounds=GRADE_MARGINS)
            yield mean_score(results, "graded_above_reversed", share_above, bounds=SHARE)
    gradings = grades.set_index([*decisions, "kind", "nth"])["grade"].unstack()
    if {1, 2} <= set(gradings.columns):
        yield from _regrade_scores(
            results, gradings[[1, 2]].reset_index(["number", "kind"], drop=True)
        )


def _regrade_scores(results: ExperimentResults, pairs: pd.DataFrame) -> Iterator[Score]:
    """Yield the mean distance of two grades of the same decision, and their correlation."""
    complete = pairs.dropna()
    if complete.empty:
        return
    distances = (pairs[1] - pairs[2]).abs()
    yield mean_score(results, "regrade_difference", distances, bounds=GRADES)
    has_spread = complete.std(ddof=0).min() > MIN_SPREAD
    correlation = float(np.corrcoef(complete[1], complete[2])[0, 1]) if has_spread else float("nan")
    invalid = len(pairs) - len(complete)
    yield sample_debates(results, complete.index).count(
        "regrade_correlation", correlation, n_invalid=invalid
    )
