"""Which model served an experiment: a server may change the model behind a name during a run."""

from collections import Counter
from collections.abc import Iterator

import pandas as pd

from moot.scores import concat_scores, no_scores, scorer, to_frame
from moot.scores.results import ExperimentResults
from moot.scores.score import Score

METRIC, GROUP = "debates_served", "served_by="
ASKED = " (asked: "
"""Follows the name of a model that answered in place of the one that was asked."""
_MOST_NAMED = 4


@scorer("served")
def served(results: ExperimentResults) -> pd.DataFrame:
    """`debates_served` by version of a model (group "served_by=MODEL: VERSION"), as far as its
    server says.
    """
    predictions = results.predictions
    if "served_by" not in predictions:  # written before servers were asked for the model's version
        return no_scores()
    frames = []
    for model, rows in predictions.groupby("model", sort=True):
        debates: Counter[tuple[str, str]] = Counter()
        for pairs in rows["served_by"].dropna():
            debates.update((name, version) for name, version in pairs)
        scores = [
            Score(METRIC, float(count), group=f"{GROUP}{name}: {version}", n=len(rows))
            for (name, version), count in sorted(debates.items())
        ]
        frames.append(to_frame(results.experiment, str(model), scores))
    return concat_scores(frames)


def versions_said(scores: pd.DataFrame, experiment: str, model: str) -> Iterator[tuple[str, str]]:
    """Yield the models of one run, each with the version that its server stated; "" if unknown."""
    rows = scores[
        (scores["metric"] == METRIC)
        & (scores["experiment"] == experiment)
        & (scores["model"] == model)
    ]
    for group in rows["group"]:
        name, _, version = group.removeprefix(GROUP).partition(": ")
        yield name, version.partition(", ")[0]


def version_notes(scores: pd.DataFrame) -> list[str]:
    """Return a sentence for each experiment and model whose rows were served by more than one
    version of a model, or by another model than was asked.
    """
    notes = []
    rows = scores[scores["metric"] == METRIC]
    model_names = rows["group"].str.split(": ", n=1).str[0]
    version_counts = rows.groupby(["experiment", "model", model_names])["group"].transform(
        "nunique"
    )
    changed_models = rows[(version_counts > 1) | rows["group"].str.contains(ASKED, regex=False)]
    for (experiment, model), group_rows in changed_models.groupby(
        ["experiment", "model"], sort=False
    ):
        versions = [
            f"{group.removeprefix(GROUP)} ({value:.0f} of {n} debates)"
            for group, value, n in zip(
                group_rows["group"], group_rows["value"], group_rows["n"], strict=True
            )
        ]
        if len(versions) > _MOST_NAMED:
            versions = [*versions[:_MOST_NAMED], f"and {len(versions) - _MOST_NAMED} more"]
        notes.append(
            f"Warning: {experiment}, {model}: these debates were served by other versions of a"
            f" model than was asked for, or by several: {'; '.join(versions)}."
        )
    return notes
