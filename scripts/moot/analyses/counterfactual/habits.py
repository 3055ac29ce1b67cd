"""Habits of judges by counterfactual people: whether a verdict follows a named group."""

from collections.abc import Iterator

import pandas as pd

from moot.analyses.counterfactual.analysis import has_counterfactual_people
from moot.analyses.counterfactual.tables import ALL, PREDICTION, counterfactual_table
from moot.report.columns import Row
from moot.report.habits import ASKED_TWICE, CHOSEN_SHARE, HABITS, HabitSource
from moot.report.study_results import StudyResults


def habit_rows(results: StudyResults) -> Iterator[Row]:
    """Yield names and groups: the same people told with another sex or race."""
    frame: pd.DataFrame = counterfactual_table(results).frame
    frame = frame[(frame["what changes"] == PREDICTION) & (frame["people"] == ALL)]
    for row in frame[~frame["method"].str.startswith("trained: ")].to_dict("records"):
        yield {
            "data": (row["data"], row["method"], row["model"]),
            "habit": f"groups: told {row['told']} rather than {row['rather than']}",
            "known by": "the same people told otherwise",
            CHOSEN_SHARE: (row["told so"], row["told otherwise"]),
            "difference": (row["difference"], row["difference low"], row["difference high"]),
            "p": row["p"],
            "family": row["family"],
            ASKED_TWICE: row["changed if asked twice"],
            "cases": (row["cases"], row["clusters"]),
        }


HABITS.register("counterfactual")(HabitSource(habit_rows, has_counterfactual_people))
