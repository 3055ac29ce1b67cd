"""The share of replies in which a model or its provider refuses to answer."""

from collections.abc import Iterator

import pandas as pd

from moot.core.utterance_kinds import CONCLUSION, REFUSED
from moot.scores import by_model, scorer
from moot.scores.results import ExperimentResults
from moot.scores.score import OVERALL, Score
from moot.stats.statistic import share_statistic

METRIC = "replies_refused"


@scorer("refusals")
def refusals(results: ExperimentResults) -> pd.DataFrame:
    """`replies_refused`: the share of replies that refuse to answer, overall and by `kind=`.

    None if no reply is a refusal. n counts a model's replies.
    """
    rows = results.gather(_replies, ["kind", "parse_status", "source"])
    return by_model(results, lambda model: _scores(results, rows[rows["model"] == model]))


def _replies(utterances: pd.DataFrame) -> pd.DataFrame:
    is_reply = (utterances["source"] == "model") & (utterances["kind"] != CONCLUSION)
    rows = utterances[is_reply & (utterances["parse_status"] != "failed")].copy()
    rows["refused"] = (rows["parse_status"] == REFUSED).astype(float)
    return rows.drop(columns=["parse_status", "source"])


def _scores(results: ExperimentResults, rows: pd.DataFrame) -> Iterator[Score]:
    if not rows["refused"].any():
        return
    groups = [(OVERALL, rows)]
    for kind, kind_rows in rows.groupby("kind", sort=True):
        groups.append((f"kind={kind}", kind_rows))
    for group, group_rows in groups:
        yield results.sample(group_rows["case_id"]).score(
            METRIC, share_statistic(group_rows["refused"]), group
        )


def refusal_notes(scores: pd.DataFrame) -> list[str]:
    """Return a sentence for each experiment and model with replies that refuse to answer."""
    rows = scores[(scores["metric"] == METRIC) & (scores["group"] == OVERALL)]
    columns = rows[["experiment", "model", "value", "n"]]
    return [
        f"{experiment}, {model}: {value:.1%} of {n} replies refuse to answer; they state no"
        " answer and count as invalid."
        for experiment, model, value, n in columns.itertuples(index=False)
    ]
