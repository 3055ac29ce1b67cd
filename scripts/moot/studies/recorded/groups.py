"""Error rates of recorded answers by group, and whether a group's rate is other than that of all other people."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from moot.report.content import StudyResults, TableContent
from moot.stats.bootstrap import ClusterBootstrap, as_numbers, ratio_statistic
from moot.stats.groups import permutation_p
from moot.stats.paired import holm
from moot.studies import table
from moot.studies.recorded.runs import STUDY, RecordedRun, answered_runs

GROUPED_BY = ("sex", "race")
FEWEST_CASES = 10
_RATES = {"false positive rate": "FPR", "false negative rate": "FNR"}


@table(
    STUDY,
    "groups",
    "Error rates by sex and race",
    "False positive and false negative rates of each recorded method and model by sex and race, with 95 % intervals by "
    "case, and tests against all other people.",
)
def groups(results: StudyResults) -> TableContent:
    """One row a method, model, attribute and value."""
    frames = [_with_holm(pd.DataFrame(_group_rows(run))) for run in answered_runs(results)]
    columns = ["method", "model", "group"]
    for rate, short in _RATES.items():
        columns += [rate, f"{short} low", f"{short} high", f"{short} p, Holm"]
    columns += ["named positive", "FPR p", "FNR p", "cases", "answers"]
    filled = [frame for frame in frames if len(frame)]
    frame = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=columns)
    return TableContent(
        frame[columns].astype(dict.fromkeys(("cases", "answers"), "Int64")),
        notes=[
            "Rates are over valid answers. False positive: the person was not arrested again, and the answer says yes. "
            "Groups of fewer than ten cases are left out.",
            "p: of the group's rate against that of all other people with the attribute known, by a permutation test "
            "over cases. Where an attribute has two groups the test of the second is that of the first, and stands "
            "once. Holm: corrected over all groups and both rates of a method and model.",
        ],
        ours=("false positive rate", "FPR low", "FPR high", "false negative rate", "FNR low", "FNR high"),
        intervals={"FPR, 95 % interval": ("FPR low", "FPR high"), "FNR, 95 % interval": ("FNR low", "FNR high")},
        keys=("method", "model"),
    )


def _with_holm(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a method and model with the corrected p-values of both rates."""
    if not len(rows):
        return rows
    adjusted = holm([*rows["FPR p"], *rows["FNR p"]])
    return rows.assign(**{"FPR p, Holm": adjusted[: len(rows)], "FNR p, Holm": adjusted[len(rows) :]})


def _group_rows(run: RecordedRun) -> Iterator[dict[str, Any]]:
    rows = run.predictions[run.predictions["status"] == "valid"].copy()
    attributes = run.results.cases.set_index("case_id")["attributes"]
    positive = run.results.task.positive
    actual, named = rows["target"] == positive, rows["prediction"] == positive
    rows = rows.assign(
        **{
            "FPR of": named & ~actual,
            "FPR among": ~actual,
            "FNR of": ~named & actual,
            "FNR among": actual,
            "named": named,
        }
    )
    for attribute in GROUPED_BY:
        values = rows["case_id"].map(lambda case, name=attribute: attributes[case].get(name, ""))
        known = rows[values != ""]
        cases = known.groupby("case_id")[["FPR of", "FPR among", "FNR of", "FNR among"]].sum()
        groups_of_cases = values[known.index].groupby(known["case_id"]).first()
        sizes = groups_of_cases.value_counts()
        shown = sorted(sizes.index[sizes >= FEWEST_CASES])
        for value in shown:
            mine = known[values[known.index] == value]
            inside = (groups_of_cases == value).to_numpy()
            row: dict[str, Any] = {"method": run.method, "model": run.name, "group": f"{attribute}: {value}"}
            bootstrap = ClusterBootstrap([run.results.clusters[case] for case in mine["case_id"]], run.results.seed)
            repeated = len(sizes) == len(("group", "rest")) and value != shown[0]
            for rate, short in _RATES.items():
                of, among = f"{short} of", f"{short} among"
                found = bootstrap.estimate(ratio_statistic(mine[of], mine[among], (0.0, 1.0)))
                row |= dict(zip((rate, f"{short} low", f"{short} high"), found, strict=True))
                units = as_numbers(cases[of]), as_numbers(cases[among])
                row[f"{short} p"] = np.nan if repeated else permutation_p(*units, inside, run.results.seed)
            yield {
                **row,
                "named positive": float(mine["named"].mean()),
                "cases": int(inside.sum()),
                "answers": len(mine),
            }
