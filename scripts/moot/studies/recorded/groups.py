"""Error rates of recorded answers by group, and whether a group's rate is other than that of the largest group."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from moot.report.content import StudyResults, TableContent
from moot.stats.bootstrap import DIFFERENCE, SHARE, ClusterBootstrap, ratio_statistic
from moot.stats.contrasts import Sums, compare_unpaired
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
    "case, and tests against the largest group.",
)
def groups(results: StudyResults) -> TableContent:
    """One row a method, model, attribute and value."""
    frames = [_with_holm(pd.DataFrame(group_rows(run))) for run in answered_runs(results)]
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
            "p: of the rate's difference from that of the attribute's largest group, who are other people: a t test on "
            "the bootstrap's standard error, by case. Holm: over all groups and both rates of a method and model.",
        ],
        ours=("false positive rate", "FPR low", "FPR high", "false negative rate", "FNR low", "FNR high"),
        intervals={"FPR, 95 % interval": ("FPR low", "FPR high"), "FNR, 95 % interval": ("FNR low", "FNR high")},
        keys=("method", "model"),
        exploratory=True,
    )


def _with_holm(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a method and model with the corrected p-values of both rates."""
    if not len(rows):
        return rows
    adjusted = holm([*rows["FPR p"], *rows["FNR p"]])
    return rows.assign(**{"FPR p, Holm": adjusted[: len(rows)], "FNR p, Holm": adjusted[len(rows) :]})


def group_rows(run: RecordedRun) -> Iterator[dict[str, Any]]:
    """Error rates of one run in each group of people of `FEWEST_CASES` cases or more."""
    rows = run.predictions[run.predictions["status"] == "valid"]
    attributes = run.results.cases.set_index("case_id")["attributes"]
    for attribute in GROUPED_BY:
        values = rows["case_id"].map(lambda case, name=attribute: attributes[case].get(name, ""))
        sizes = rows.groupby(values)["case_id"].nunique().drop("", errors="ignore")
        shown = {value: rows[values == value] for value in sorted(sizes.index[sizes >= FEWEST_CASES])}
        largest = max(shown, key=lambda value: (sizes[value], value), default="")
        for value, mine in shown.items():
            row: dict[str, Any] = {"method": run.method, "model": run.name, "group": f"{attribute}: {value}"}
            row |= {"cases": int(sizes[value]), "answers": len(mine)}
            row |= {"named positive": float((mine["prediction"] == run.results.task.positive).mean())}
            yield row | _rate_cells(run, mine, None if value == largest else shown[largest])


def _rate_cells(run: RecordedRun, mine: pd.DataFrame, largest: pd.DataFrame | None) -> dict[str, Any]:
    """Both rates of a group with their intervals, and p against the largest group; NaN of that group itself."""
    cells: dict[str, Any] = {}
    clusters, seed = run.results.clusters, run.results.seed
    bootstrap = ClusterBootstrap([clusters[case] for case in mine["case_id"]], seed)
    for rate, short in _RATES.items():
        sums = _sums(run, mine, short)
        found = bootstrap.estimate(ratio_statistic(sums.tops[:, 0], sums.bottoms[:, 0], SHARE))
        cells |= dict(zip((rate, f"{short} low", f"{short} high"), found, strict=True))
        cells[f"{short} p"] = np.nan
        other = None if largest is None else _sums(run, largest, short)
        if largest is not None and other is not None and sums.bottoms.any() and other.bottoms.any():
            first, second = ([clusters[case] for case in group["case_id"]] for group in (mine, largest))
            cells[f"{short} p"] = compare_unpaired(sums, other, first, second, seed, DIFFERENCE).p
    return cells


def _sums(run: RecordedRun, rows: pd.DataFrame, short: str) -> Sums:
    """Wrong answers over the people of whom such an answer would be wrong, row by row."""
    positive = run.results.task.positive
    actual = (rows["target"] == positive).to_numpy()
    wrong = (rows["prediction"] == positive).to_numpy() != actual
    among = actual if short == "FNR" else ~actual
    return Sums((wrong & among).astype(np.float64)[:, None], among.astype(np.float64)[:, None])
