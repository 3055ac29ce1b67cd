"""Error rates of recorded answers by group, and whether a group's rate is other than that of the largest group."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from moot.stats.bootstrap import DIFFERENCE, SHARE, ClusterBootstrap, ratio_statistic
from moot.stats.contrasts import Sums, compare_unpaired
from moot.stats.paired import holm
from moot.studies.recorded.runs import RecordedRun

GROUPED_BY = ("sex", "race")
FEWEST_CASES = 10
RATES = {"false positive rate": "FPR", "false negative rate": "FNR"}


def with_holm(rows: pd.DataFrame) -> pd.DataFrame:
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
    for rate, short in RATES.items():
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
