"""How many replies contradict themselves: their words say one answer, their field another."""

import json
from collections.abc import Iterator

import pandas as pd

from moot.core.utterance_kinds import CONCLUSION
from moot.protocols.contradictions import CONTRADICTION
from moot.scores import by_model, scorer
from moot.scores.results import OVERALL, ExperimentResults, Score
from moot.stats.bootstrap import share_statistic

METRIC = "replies_contradictory"


@scorer("contradictions")
def contradictions(results: ExperimentResults) -> pd.DataFrame:
    """`replies_contradictory`: the share of replies whose words contradict their prediction,
    overall and by `kind=`.

    None where no reply was generated in a form. n counts replies, unusable ones left out.
    """
    rows = results.gather(_replies_with_prediction, ["kind", "parsed", "source"])
    return by_model(results, lambda model: _scores(results, rows[rows["model"] == model]))


def _replies_with_prediction(utterances: pd.DataFrame) -> pd.DataFrame:
    mentioned = utterances["parsed"].str.contains(f'"prediction"|"{CONTRADICTION}"')
    rows = utterances[
        (utterances["source"] == "model") & (utterances["kind"] != CONCLUSION) & mentioned
    ].copy()
    parsed = [json.loads(text) for text in rows["parsed"]]
    rows["flagged"] = [
        float(isinstance(reply, dict) and CONTRADICTION in reply) for reply in parsed
    ]
    return rows.drop(columns=["parsed", "source"])


def _scores(results: ExperimentResults, rows: pd.DataFrame) -> Iterator[Score]:
    groups = [
        (OVERALL, rows),
        *((f"kind={kind}", group_rows) for kind, group_rows in rows.groupby("kind", sort=True)),
    ]
    for group, group_rows in groups:
        if len(group_rows):
            yield results.sample(group_rows["case_id"]).score(
                METRIC, share_statistic(group_rows["flagged"]), group
            )


def contradiction_notes(scores: pd.DataFrame) -> list[str]:
    """A sentence for each experiment and model with replies that contradict themselves."""
    contradictory = scores[
        (scores["metric"] == METRIC) & (scores["group"] == OVERALL) & (scores["value"] > 0)
    ]
    return [
        f"{experiment}, {model}: the words of {value:.1%} of {n} replies contradict their"
        " prediction; `contradictory` of the experiment says what counts then (by default the"
        " prediction)."
        for experiment, model, value, n in contradictory[
            ["experiment", "model", "value", "n"]
        ].itertuples(index=False)
    ]
