"""The table `panel_worth`: what a panel is worth."""

from collections.abc import Iterable, Iterator
from math import isnan

import numpy as np
import pandas as pd

from moot.analyses.panel_worth.panels import (
    FIRST,
    LAST,
    SEPARATOR,
    Panels,
    difference,
    effective_votes,
    gather_members,
)
from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import TableContent
from moot.report.notes import NO_TRUTH
from moot.report.study_results import Run, StudyResults, rows_of_runs
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import SHARE, mean_statistic, ratio_statistic

EVERYONE, CHANGE = "all", "change"
PULLED_TO_WRONG = "wrong majority pulls over a right minority"
PULLED_TO_RIGHT = "right majority pulls over a wrong minority"
NO_COMMON_ERROR = "the errors of two members do not vary"
COLUMNS = (
    Columns()
    .keys("data", "answers of", "model", "members are", "when", "member")
    .estimate("accuracy of members", "accuracy")
    .estimate("error correlation", "correlation")
    .estimate("effective votes", "votes")
    .estimate("accuracy of the majority", "majority")
    .plain("majority of independent members")
    .estimate("distance to Condorcet", "distance", "distance, 95 % interval", DIFFERENCE, SIGNED)
    .estimate("agreement of two members", "agreement")
    .estimate(PULLED_TO_WRONG, "pulled to wrong")
    .estimate(PULLED_TO_RIGHT, "pulled to right")
    .plain("effective votes with one more member", "with one of another model")
    .plain("members a panel", digits=".1f")
    .counts("panels", "cases")
    .plain("what is missing")
)
NOTE = (
    "Effective votes: the number of independent votes whose mean varies as much. Distance to"
    " Condorcet: the accuracy of a majority of independent members, less the accuracy of the"
    " actual majority. `change`: last answers less first answers. Intervals are by case. An answer"
    " without a label is left out here; `methods` and the metrics of contrasts count it as wrong."
)


@table(EVERY_STUDY_AND_COMPARISON, "panel_worth", "How many independent judges is this panel?")
def panel_worth(results: StudyResults) -> TableContent:
    """Accuracies, error correlation and effective votes of panels, before and after talk."""
    return COLUMNS.table(rows_of_runs(results, _rows), [NOTE])


def _rows(run: Run) -> list[Row]:
    kind, answers, reason = gather_members(run)
    if reason not in ("", NO_TRUTH):
        return [{"what is missing": reason, "cases": run.predictions["case_id"].nunique()}]
    rows: list[Row] = []
    for moment, answers_at_moment in answers.groupby("moment", sort=False):
        moment_rows = _moment_rows(run, Panels(answers_at_moment), reason)
        rows += [{"when": moment, **row} for row in moment_rows]
    if not reason:
        rows += _change_rows(run, answers)
    return [{"members are": kind, "member": EVERYONE, **row} for row in rows]


def _moment_rows(run: Run, panels: Panels, reason: str) -> Iterator[Row]:
    """Yield the row of all members, and a row with the accuracy of each."""
    sample = run.resample(panels.cases)
    row = _count_cells(panels)
    row["agreement of two members"] = sample.estimate(mean_statistic(panels.agreement, SHARE))
    if reason:
        yield row | {"what is missing": reason}
        return
    yield row | _cells_with_truth(run, panels, sample)
    for number, name in enumerate(panels.names if len(panels.names) > 1 else ()):
        yield {
            "member": name,
            "panels": int((panels.members[:, number] > 0).sum()),
            "accuracy of members": sample.estimate(panels.accuracy([number])),
        }


def _count_cells(panels: Panels) -> Row:
    return {
        "members a panel": float(panels.sizes.mean()),
        "panels": len(panels.cases),
        "cases": len(set(panels.cases)),
    }


def _cells_with_truth(run: Run, panels: Panels, sample: ClusterJackknife) -> Row:
    majority = mean_statistic(panels.majority_right, SHARE)
    independent_majority = panels.independent_majority()
    cells: Row = {
        "accuracy of members": sample.estimate(panels.accuracy()),
        "accuracy of the majority": sample.estimate(majority),
        "majority of independent members": sample.value(independent_majority),
        "distance to Condorcet": sample.estimate(difference(independent_majority, majority)),
    }
    rho, low, high = sample.estimate(panels.error_correlation())
    if isnan(rho):
        return cells | {"what is missing": NO_COMMON_ERROR}
    size = float(panels.sizes.mean())
    cells["error correlation"] = (rho, low, high)
    cells["effective votes"] = tuple(effective_votes(size, value) for value in (rho, high, low))
    cells["effective votes with one more member"] = effective_votes(size + 1, rho)
    new_rho = panels.correlation_between(_models_of_members(run, panels.names))
    mean_rho = ((size - 1) * rho + 2 * new_rho) / (size + 1)  # of the pairs of k + 1 members
    cells["with one of another model"] = effective_votes(size + 1, mean_rho)
    return cells


def _models_of_members(run: Run, names: Iterable[str]) -> list[str]:
    """Return the model of each member: the recorded judge's, or that in the seat."""
    judges, seats = set(run.predictions["judge"]), run.params.get("seats", {})
    parts = [name.split(SEPARATOR)[0] for name in names]
    return [part if part in judges else seats.get(part, run.model) for part in parts]


def _change_rows(run: Run, answers: pd.DataFrame) -> Iterator[Row]:
    """Yield the row of the change from first to last answers, in panels that have both."""
    answers = answers[answers["moment"].isin([FIRST, LAST])]
    answers = answers[answers.groupby("panel")["moment"].transform("nunique") > 1]
    if answers.empty:
        return
    first = Panels(answers[answers["moment"] == FIRST])
    last = Panels(answers[answers["moment"] == LAST])
    sample = run.resample(first.cases)
    changes = {
        "accuracy of members": difference(last.accuracy(), first.accuracy()),
        "error correlation": difference(last.error_correlation(), first.error_correlation(), 2.0),
        "accuracy of the majority": mean_statistic(
            last.majority_right - first.majority_right, (-1.0, 1.0)
        ),
        "agreement of two members": mean_statistic(last.agreement - first.agreement, (-1.0, 1.0)),
    }
    row: Row = {name: sample.estimate(statistic) for name, statistic in changes.items()}
    yield {"when": CHANGE, **_count_cells(last), **_pull_cells(run, answers), **row}


def _pull_cells(run: Run, answers: pd.DataFrame) -> Row:
    """Return how often the majority of the first answers pulls members of the minority over."""
    answers = answers.assign(is_right=(answers["prediction"] == answers["target"]).astype(float))
    seats = answers.pivot_table("is_right", ["case_id", "panel", "member"], "moment")
    sample = run.resample(seats.index.get_level_values("case_id"))
    first, last = seats[FIRST], seats[LAST]
    majority = np.sign(2 * first.groupby("panel").transform("mean") - 1)
    to_wrong, to_right = (majority == -1) & (first == 1), (majority == 1) & (first == 0)
    return {
        PULLED_TO_WRONG: sample.estimate(ratio_statistic(to_wrong & (last == 0), to_wrong, SHARE)),
        PULLED_TO_RIGHT: sample.estimate(ratio_statistic(to_right & (last == 1), to_right, SHARE)),
    }
