"""Grades that a second model gives to the judge's decisions (Table 5), and how far such grades can be trusted.

Two checks that the paper does not make: the same decision graded twice (do the grades agree with themselves?), and the
opposite decision graded too (does the grader see the difference?). On the data set `agreement` the opposite is known
to be wrong; in a conference it is merely the other answer.
"""

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.core.kinds import GRADE, GRADE_REVERSED, UNUSABLE
from moot.scores import by_model, no_scores, scorer
from moot.scores.results import ExperimentResults, Score
from moot.stats.bootstrap import SHARE
from moot.studies.conference.scores_conference import mean_score, sample_of_debates

PROTOCOLS = ("conference", "grading")
CONSTANT = 1e-9


@scorer("grading")
def grading(results: ExperimentResults) -> pd.DataFrame:
    """Mean grades by decision and overall, and the grader's reliability, for each model."""
    if results.config.protocol not in PROTOCOLS:
        return no_scores()
    grades = results.gather(graded_decisions, ["repeat", "round", "kind", "parse_status", "parsed"])
    return by_model(results, lambda model: _scores(results, grades[grades["model"] == model]))


def graded_decisions(transcripts: pd.DataFrame) -> pd.DataFrame:
    """One row a grading: model, case_id, debate_id, turn, repeat, number (of the decision), kind, nth, grade or NaN."""
    rows = transcripts[transcripts["kind"].isin([GRADE, GRADE_REVERSED])]
    usable = ~rows["parse_status"].isin(UNUSABLE)
    grades = [
        json.loads(parsed)["grade"] if valid else np.nan for parsed, valid in zip(rows["parsed"], usable, strict=True)
    ]
    keys = ["model", "case_id", "debate_id", "repeat", "round", "kind"]
    found = rows[[*keys, "turn"]].assign(
        grade=np.array(grades, dtype=np.float64), nth=rows.groupby(keys).cumcount() + 1
    )
    return found.rename(columns={"round": "number"})


def _scores(results: ExperimentResults, grades: pd.DataFrame) -> Iterator[Score]:
    if grades.empty:
        return
    n_invalid = int(grades["grade"].isna().sum())
    for kind in ("grade", "grade_reversed"):
        values = grades[(grades["kind"] == kind) & grades["grade"].notna()].set_index("debate_id")
        if len(values):
            yield mean_score(results, kind, values["grade"], n_invalid=n_invalid)
            if kind == GRADE and results.config.protocol == "conference":
                for number, rows in values.groupby("number"):
                    yield mean_score(results, kind, rows["grade"], f"decision={number}")
    decisions = ["debate_id", "number"]
    means = grades.groupby([*decisions, "kind"])["grade"].mean().unstack()
    if {"grade", "grade_reversed"} <= set(means.columns):
        both = means.dropna().reset_index("number", drop=True)
        if len(both):
            margin = both["grade"] - both["grade_reversed"]
            yield mean_score(results, "grade_margin", margin, n_invalid=n_invalid)
            yield mean_score(
                results, "graded_above_reversed", (margin > 0) + 0.5 * (margin == 0), n_invalid=n_invalid, bounds=SHARE
            )
    twice = grades.pivot_table(index=[*decisions, "kind"], columns="nth", values="grade")
    if {1, 2} <= set(twice.columns):
        pairs = twice[[1, 2]].dropna()
        yield from _retest(results, pairs.reset_index(["number", "kind"], drop=True), n_invalid)


def _retest(results: ExperimentResults, pairs: pd.DataFrame, n_invalid: int) -> Iterator[Score]:
    """How far apart the first and second grade of the same decision are, and their correlation."""
    if pairs.empty:
        return
    yield mean_score(results, "regrade_difference", (pairs[1] - pairs[2]).abs(), n_invalid=n_invalid)
    varied = pairs.std(ddof=0).min() > CONSTANT
    correlation = float(np.corrcoef(pairs[1], pairs[2])[0, 1]) if varied else float("nan")
    yield sample_of_debates(results, pairs.index).count("regrade_correlation", correlation, n_invalid=n_invalid)
