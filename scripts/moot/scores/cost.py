"""The cost of each prediction: calls, tokens, seconds and US dollars, also of invalid ones."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from moot.core.experiment_config import RECORDED
from moot.scores import by_model, scorer
from moot.scores.results import ExperimentResults
from moot.scores.score import Sample, Score
from moot.stats.arrays import Floats, as_numbers
from moot.stats.intervals import lognormal_interval
from moot.stats.statistic import AMOUNT, mean_statistic

AMOUNT_COLUMNS = (
    "calls",
    "retries",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "seconds",
    "cost_usd",
)


@scorer("cost")
def cost(results: ExperimentResults) -> pd.DataFrame:
    """`calls_per_case`, `tokens_per_case`, `seconds_per_case` and more, and `cost_usd_total`.

    Prompt and completion tokens count. Per case means per row of predictions: a case argued
    twenty times counts twenty times. Seconds were measured during the original calls, not a
    replay. Recorded debates have no such scores, since their cost is unknown.
    """
    predictions = results.predictions
    return by_model(
        results, lambda model: _model_scores(predictions[predictions["model"] == model], results)
    )


def _model_scores(rows: pd.DataFrame, results: ExperimentResults) -> Iterator[Score]:
    if results.config.protocol == RECORDED:
        return
    rows = rows.sort_values(["case_id", "repeat"], kind="stable")
    sample = results.sample(rows["case_id"])
    n_invalid = int((rows["status"] != "valid").sum())
    columns = {name: rows[name].to_numpy(dtype=np.float64) for name in AMOUNT_COLUMNS}
    columns["tokens"] = columns["prompt_tokens"] + columns["completion_tokens"]
    for name, values in columns.items():
        statistic = mean_statistic(values, AMOUNT)
        score = sample.score(f"{name}_per_case", statistic, n_invalid=n_invalid)
        if name == "cost_usd":
            low, high = _cost_interval(values, sample)
            score = score if np.isnan(low) else replace(score, ci_low=low, ci_high=high)
        yield score
    yield sample.count("cost_usd_total", float(columns["cost_usd"].sum()), n_invalid=n_invalid)


def _cost_interval(costs: Floats, sample: Sample) -> tuple[float, float]:
    """Return the log-normal interval of a mean cost: costs have a long tail."""
    codes = sample.jackknife.codes
    sizes = as_numbers(np.bincount(codes))
    return lognormal_interval(np.bincount(codes, costs) / sizes, sizes)
