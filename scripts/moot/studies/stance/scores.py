"""How much more often models name a label than it is true.

Heller et al. say of polarity that all models "detect much more negative stance polarity than
positive ones" (section 5.1.3) and print no number.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.scores import by_model, no_scores, scorer
from moot.scores.case_metrics import Terms, case_metric
from moot.scores.results import ExperimentResults
from moot.scores.score import Score
from moot.stats.arrays import Floats, as_numbers
from moot.stats.statistic import DIFFERENCE, mean_statistic
from moot.studies.stance.runs import PROTOCOLS

NEGATIVE = "negative"


@scorer("label_excess")
def label_excess(results: ExperimentResults) -> pd.DataFrame:
    """The share of each label among the answers minus its share among the truths of the same
    cases.
    """
    if results.config.protocol not in PROTOCOLS:
        return no_scores()
    return by_model(results, lambda model: _excess_scores(results, model))


def _excess_scores(results: ExperimentResults, model: str) -> Iterator[Score]:
    rows = _valid_rows(results, model)
    all_rows = results.predictions[results.predictions["model"] == model]
    n_invalid = len(all_rows) - len(rows)
    if rows.empty:
        return
    sample = results.sample(list(rows["case_id"]))
    for label in results.task.labels:
        statistic = mean_statistic(_excess(rows, label), DIFFERENCE)
        yield sample.score("label_excess", statistic, f"label={label}", n_invalid=n_invalid)


@case_metric("negative_excess")
def negative_excess(results: ExperimentResults, model: str) -> Terms:
    """Share of negative answers minus the share of negative cases; over valid answers.

    It is above 0 if a model names negative polarity more often than it occurs.
    """
    rows = _valid_rows(results, model)
    tops = _excess(rows, NEGATIVE)[:, None]
    return Terms(list(rows["case_id"]), tops, np.ones_like(tops), DIFFERENCE)


def _valid_rows(results: ExperimentResults, model: str) -> pd.DataFrame:
    rows = results.predictions[results.predictions["model"] == model]
    return rows[(rows["status"] == "valid") & (rows["target"] != "")]


def _excess(rows: pd.DataFrame, label: str) -> Floats:
    return as_numbers(rows["prediction"] == label) - as_numbers(rows["target"] == label)
