"""What the people of the NYU debates answered on feedback forms: how they graded debates, and each of the two sides."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from moot.core.kinds import FEEDBACK
from moot.datasets.nyu_debates import HIGHEST_GRADE, RIGHT_SIDE, WRONG_SIDE
from moot.report.content import StudyResults, TableContent
from moot.stats.bootstrap import ClusterBootstrap, as_numbers, mean_statistic
from moot.studies import table
from moot.studies.recorded.runs import STUDY, RecordedRun, judged_runs

_GRADES = (0.0, float(HIGHEST_GRADE))
_DIFFERENCES = (-float(HIGHEST_GRADE), float(HIGHEST_GRADE))
_SIDES = {f", {RIGHT_SIDE}": "right side", f", {WRONG_SIDE}": "wrong side"}
_COLUMNS = (
    "arm",
    "asked",
    "question",
    "mean grade",
    "95 % low",
    "95 % high",
    "right side",
    "wrong side",
    "right less wrong",
    "difference low",
    "difference high",
    "forms",
)


@table(
    STUDY,
    "nyu_feedback",
    "What judges and debaters graded on feedback forms",
    "Mean grades from 0 to 4 by arm, who was asked, and question; where both sides were graded, that of the right "
    "answer's side less the other's, with 95 % intervals by story.",
)
def nyu_feedback(results: StudyResults) -> TableContent:
    """One row an arm, a role, and a question of the form."""
    rows = [row for run in judged_runs(results) for row in _rows(run)]
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    return TableContent(
        frame.astype({"forms": "Int64"}),
        notes=[
            f"Forms have grades from 0 to {HIGHEST_GRADE}; each question is named as the authors' records name it. "
            "Only grades are counted: what people wrote is not read. Forms are those of debates whose files were read.",
            "A question about both sides has the mean of both as its grade. In a consultancy there is one side, which "
            "argued for the right or the wrong answer.",
        ],
        ours=("mean grade", "95 % low", "95 % high", "right less wrong", "difference low", "difference high"),
        intervals={
            "95 % interval": ("95 % low", "95 % high"),
            "95 % interval of the difference": ("difference low", "difference high"),
        },
        keys=("arm", "asked", "question"),
        formats={"mean grade": ".2f", "right side": ".2f", "wrong side": ".2f", "right less wrong": "+.2f"},
    )


def _rows(run: RecordedRun) -> Iterator[dict[str, Any]]:
    grades = read_grades(run)
    for (asked, question), rows in grades.groupby(["asked", "question"], sort=True):
        by_form = rows.groupby(["debate_id", "turn"], sort=True)
        stories = by_form["story"].first()
        row: dict[str, Any] = {"arm": run.method, "asked": asked, "question": question, "forms": len(stories)}
        bootstrap = ClusterBootstrap(stories, run.results.seed)
        mean = bootstrap.estimate(mean_statistic(as_numbers(by_form["grade"].mean()), _GRADES))
        row |= dict(zip(("mean grade", "95 % low", "95 % high"), mean, strict=True))
        sides = rows.pivot_table(index=["debate_id", "turn"], columns="side", values="grade")
        row |= {side: float(sides[side].mean()) for side in _SIDES.values() if side in sides}
        if {"right side", "wrong side"} <= set(sides.columns):
            both = sides.dropna(subset=["right side", "wrong side"])
            clusters = ClusterBootstrap(stories.loc[both.index], run.results.seed)
            difference = clusters.estimate(
                mean_statistic(as_numbers(both["right side"] - both["wrong side"]), _DIFFERENCES)
            )
            names = ("right less wrong", "difference low", "difference high")
            row |= dict(zip(names, difference, strict=True))
        yield row


def read_grades(run: RecordedRun) -> pd.DataFrame:
    """All grades, one row each: debate_id, turn (the form), story, asked, question, side ("" for neither), grade."""
    said = run.results.transcripts
    forms = said[(said["model"] == run.model) & (said["kind"] == FEEDBACK)]
    rows = []
    for form in forms.to_dict("records"):
        story = run.results.clusters[form["case_id"]]
        for key, grade in json.loads(form["parsed"])["grades"].items():
            ending = next((ending for ending in _SIDES if key.endswith(ending)), "")
            question, side = key.removesuffix(ending), _SIDES.get(ending, "")
            rows.append((form["debate_id"], form["turn"], story, form["speaker"], question, side, float(grade)))
    columns = ["debate_id", "turn", "story", "asked", "question", "side", "grade"]
    return pd.DataFrame(rows, columns=columns).astype({"grade": np.float64})
