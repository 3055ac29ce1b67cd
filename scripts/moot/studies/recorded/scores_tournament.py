"""What decides debates of two sides before several judges: the side, the length, the model, or who
judges.

Verdicts suffice, no truth is needed. Attributes of the debates say which side used more words
(`longer`) and which two debates are between the same models with sides exchanged (`matchup`). Each
metric may be of one judge alone.
"""

import numpy as np
import pandas as pd

from moot.scores.case_metrics import Terms, case_metric
from moot.scores.results import ExperimentResults
from moot.stats.agreement import agreeing_pairs
from moot.stats.bootstrap import SHARE, as_numbers


def verdicts(results: ExperimentResults, model: str, judge: str = "") -> pd.DataFrame:
    """The usable verdicts, predictions with the columns longer and matchup ("" for none); of one
    judge, if named.
    """
    rows = results.predictions
    rows = rows[(rows["model"] == model) & (rows["status"] == "valid")].fillna(
        {"judge": "", "persona": ""}
    )
    rows = rows[rows["judge"] == judge] if judge else rows
    attributes = rows["case_id"].map(results.cases.set_index("case_id")["attributes"])
    return rows.assign(
        **{name: [found.get(name, "") for found in attributes] for name in ("longer", "matchup")}
    )


@case_metric("positive_wins")
def positive_wins(results: ExperimentResults, model: str, judge: str = "") -> Terms:
    """Share of verdicts for the positive of two sides."""
    rows = verdicts(results, model, judge)
    return _share(rows, rows["prediction"] == results.task.positive)


@case_metric("longer_wins")
def longer_wins(results: ExperimentResults, model: str, judge: str = "") -> Terms:
    """Share of verdicts for the side that used more words."""
    rows = verdicts(results, model, judge)
    rows = rows[rows["longer"].isin(results.task.labels)]
    return _share(rows, rows["prediction"] == rows["longer"])


@case_metric("same_side_after_swap")
def same_side_after_swap(results: ExperimentResults, model: str, judge: str = "") -> Terms:
    """Share of pairs of judge and matchup in which the same side wins both ways round, and not the
    same model.
    """
    rows, pair = verdicts(results, model, judge), ["matchup", "judge", "persona"]
    each = rows[rows["matchup"] != ""].drop_duplicates([*pair, "case_id"]).groupby(pair)
    pairs = each.agg(
        case_id=("case_id", "first"), debates=("case_id", "size"), sides=("prediction", "nunique")
    )
    pairs = pairs[pairs["debates"] == 2]
    return _share(pairs, pairs["sides"] == 1)


@case_metric("judges_agree")
def judges_agree(results: ExperimentResults, model: str) -> Terms:
    """Share of pairs of judges of the same debate who name the same winner."""
    pairs = agreeing_pairs(
        verdicts(results, model), ["case_id", "repeat", "persona"], but_for=["judge"]
    )
    agree, of = (pairs[[name]].to_numpy(dtype=np.float64) for name in ("agree", "pairs"))
    return Terms(list(pairs.index), agree, of, SHARE)


def _share(rows: pd.DataFrame, values: "pd.Series[bool]") -> Terms:
    tops = as_numbers(values)[:, None]
    return Terms(list(rows["case_id"]), tops, np.ones_like(tops), SHARE)
