"""What the people of the NYU debates answered on feedback forms: how they graded debates, and each of the two sides."""

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.core.kinds import FEEDBACK
from moot.core.types import JsonObject
from moot.stats.bootstrap import ClusterBootstrap, as_numbers, mean_statistic
from moot.studies.recorded.data_nyu_debates import HIGHEST_GRADE, RIGHT_SIDE, WRONG_SIDE
from moot.studies.recorded.runs import RecordedRun

_GRADES = (0.0, float(HIGHEST_GRADE))
_DIFFERENCES = (-float(HIGHEST_GRADE), float(HIGHEST_GRADE))
_SIDES = {f", {RIGHT_SIDE}": "right side", f", {WRONG_SIDE}": "wrong side"}


def feedback_rows(run: RecordedRun) -> Iterator[JsonObject]:
    """A row for each role that was asked and each question of the form, with the columns of `nyu_feedback`."""
    grades = read_grades(run)
    for (asked, question), rows in grades.groupby(["asked", "question"], sort=True):
        by_form = rows.groupby(["debate_id", "turn"], sort=True)
        clusters = by_form["cluster"].first()
        row: JsonObject = {"arm": run.method, "asked": asked, "question": question, "forms": len(clusters)}
        bootstrap = ClusterBootstrap(clusters, run.results.seed)
        row["mean grade"] = bootstrap.estimate(mean_statistic(as_numbers(by_form["grade"].mean()), _GRADES))
        sides = rows.pivot_table(index=["debate_id", "turn"], columns="side", values="grade")
        row |= {side: float(sides[side].mean()) for side in _SIDES.values() if side in sides}
        if {"right side", "wrong side"} <= set(sides.columns):
            both = sides.dropna(subset=["right side", "wrong side"])
            of_both = ClusterBootstrap(clusters.loc[both.index], run.results.seed)
            differences = mean_statistic(as_numbers(both["right side"] - both["wrong side"]), _DIFFERENCES)
            row["right less wrong"] = of_both.estimate(differences)
        yield row


def read_grades(run: RecordedRun) -> pd.DataFrame:
    """All grades, one row each: debate_id, turn (the form), cluster (story and judge), asked, question, side,
    grade; side is "" for neither.
    """
    said = run.results.transcripts
    forms = said[(said["model"] == run.model) & (said["kind"] == FEEDBACK)]
    rows = []
    for form in forms.to_dict("records"):
        cluster = run.results.clusters[form["case_id"]]
        for key, grade in json.loads(form["parsed"])["grades"].items():
            ending = next((ending for ending in _SIDES if key.endswith(ending)), "")
            question, side = key.removesuffix(ending), _SIDES.get(ending, "")
            rows.append((form["debate_id"], form["turn"], cluster, form["speaker"], question, side, float(grade)))
    columns = ["debate_id", "turn", "cluster", "asked", "question", "side", "grade"]
    return pd.DataFrame(rows, columns=columns).astype({"grade": np.float64})
