"""How many replies contradict themselves: their words say one answer, their field another."""

import json
from collections.abc import Iterator

import pandas as pd

from moot.core.kinds import CONCLUSION
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
    rows = results.gather(_stated, ["kind", "parsed", "source"])
    return by_model(results, lambda model: _scores(results, rows[rows["model"] == model]))


def _stated(said: pd.DataFrame) -> pd.DataFrame:
    mentioned = said["parsed"].str.contains(f'"prediction"|"{CONTRADICTION}"')
    rows = said[(said["source"] == "model") & (said["kind"] != CONCLUSION) & mentioned].copy()
    parsed = [json.loads(text) for text in rows["parsed"]]
    rows["flagged"] = [
        float(isinstance(found, dict) and CONTRADICTION in found) for found in parsed
    ]
    return rows.drop(columns=["parsed", "source"])


def _scores(results: ExperimentResults, rows: pd.DataFrame) -> Iterator[Score]:
    groups = [
        (OVERALL, rows),
        *((f"kind={kind}", found) for kind, found in rows.groupby("kind", sort=True)),
    ]
    for group, found in groups:
        if len(found):
            yield results.sample(found["case_id"]).score(
                METRIC, share_statistic(found["flagged"]), group
            )


def contradiction_notes(scores: pd.DataFrame) -> list[str]:
    """A sentence for each experiment and model with replies that contradict themselves."""
    found = scores[
        (scores["metric"] == METRIC) & (scores["group"] == OVERALL) & (scores["value"] > 0)
    ]
    return [
        f"{experiment}, {model}: the words of {value:.1%} of {n} replies contradict their"
        " prediction; `contradictory` of the experiment says what counts then (by default the"
        " prediction)."
        for experiment, model, value, n in found[["experiment", "model", "value", "n"]].itertuples(
            index=False
        )
    ]
