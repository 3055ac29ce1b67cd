"""The metric of contrasts `accuracy_when_sure`."""

import numpy as np

from moot.core.errors import CannotTellError
from moot.scores.case_metrics import Terms, case_metric
from moot.scores.groups import probability_of_prediction
from moot.scores.results import ExperimentResults
from moot.stats.arrays import as_numbers


@case_metric("accuracy_when_sure")
def accuracy_when_sure(results: ExperimentResults, model: str) -> Terms:
    """Accuracy of the surer half of the answers, by the probability that each states."""
    rows = results.predictions
    rows = rows[(rows["model"] == model) & (rows["target"] != "") & (rows["status"] == "valid")]
    probability = probability_of_prediction(rows, results.task)
    if rows.empty or np.isnan(probability).all():
        raise CannotTellError(f"{results.experiment}: no answer states how sure it is.")
    is_sure = probability >= np.nanmedian(probability)
    is_right = (rows["prediction"] == rows["target"]).to_numpy()
    sure = as_numbers(is_sure)[:, None]
    return Terms(list(rows["case_id"]), sure * as_numbers(is_right)[:, None], sure)
