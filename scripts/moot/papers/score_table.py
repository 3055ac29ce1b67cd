"""`scores.csv` of a paper: a row for each metric of each run and trained model."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import cast

import pandas as pd

from moot.core.types import Fields, JsonObject
from moot.papers.grid import DIGITS
from moot.report.published import trained_score
from moot.report.study_results import StudyResults

COLUMNS = (
    *("study", "experiment", "model", "data", "group", "metric", "average"),
    *("value", "low", "high", "n", "n_invalid", "n_cases"),
)
METRICS_OF_MODELS = ("accuracy", "auc", "kappa", "mcc", "brier", "recall", "precision", "f1")
"""Metrics of a leaderboard; the columns of the last three end with an average."""
ENDS = ("low", "high")
"""Endings of columns with the ends of an interval."""


def scores_frame(studies: Iterable[StudyResults]) -> pd.DataFrame:
    """Return a row for each metric of each run and trained model of some studies."""
    frames = [pd.DataFrame()]
    for results in studies:
        names = {name: run.config.dataset for name, run in results.experiments.items()}
        data = [results.data_label(names[name]) for name in results.scores["experiment"]]
        scores = results.scores.rename(columns={"ci_low": "low", "ci_high": "high"})
        frames.append(scores.assign(study=results.study, data=data))
        frames.append(pd.DataFrame(_rows_of_models(results)))
    # Later digits depend on the order of summation.
    return pd.concat(frames, ignore_index=True).reindex(columns=COLUMNS).round(DIGITS)


def _rows_of_models(results: StudyResults) -> Iterator[JsonObject]:
    """Yield a row for each metric of each trained model."""
    for dataset, board in results.baselines.items():
        for row in cast("list[Fields]", board.to_dict("records")):
            for column, value in row.items():
                metric, _, average = str(column).partition("_")
                if metric in METRICS_OF_MODELS and not average.endswith(ENDS) and pd.notna(value):
                    yield {
                        "study": results.study,
                        "experiment": f"baselines of {dataset}",
                        "model": row["baseline"],
                        "data": results.data_label(dataset),
                        "group": f"evaluation={row['evaluation']}",
                        "metric": metric,
                        "average": average,
                        **asdict(trained_score(row, str(column))),
                    }
