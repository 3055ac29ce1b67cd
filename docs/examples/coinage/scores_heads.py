"""How often heads was said."""

import pandas as pd

from moot.scores import concat_scores, scorer, to_frame
from moot.scores.results import ExperimentResults
from moot.scores.score import Score


@scorer("heads")
def heads(results: ExperimentResults) -> pd.DataFrame:
    """The share of tosses that are called heads, by model."""
    return concat_scores(
        to_frame(
            results.experiment,
            str(model),
            [Score("heads", float((rows["prediction"] == "heads").mean()), n=len(rows))],
        )
        for model, rows in results.predictions.groupby("model")
    )
