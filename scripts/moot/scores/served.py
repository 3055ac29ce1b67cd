"""Which model served an experiment: a server may change the model behind a name during a run."""

from collections import Counter
from collections.abc import Iterator

import pandas as pd

from moot.scores import concat_scores, scorer, to_frame
from moot.scores.results import ExperimentResults
from moot.scores.score import Score

METRIC, GROUP = "debates_served", "served_by="
ASKED = " (asked: "
"""Follows the name of a model that answered in place of the one that was asked."""
_MAX_NAMED = 4


@scorer("served")
def served(results: ExperimentResults) -> pd.DataFrame:
    """`debates_served` by version of a model, in the group "served_by=MODEL: VERSION".

    The version is what the model's server says.
    """
    frames = []
    for model, rows in results.predictions.groupby("model", sort=True):
        scores = [
            Score(METRIC, float(count), group=f"{GROUP}{name}: {version}", n=len(rows))
            for (name, version), count in sorted(_count_debates(rows).items())
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


def version_notes(predictions: pd.DataFrame) -> list[str]:
    """Return a sentence for each experiment and model that several versions served.

    Rows served by another model than was asked for have one, too.
    """
    notes = []
    for (experiment, model), rows in predictions.groupby(["experiment", "model"], sort=False):
        debates = _count_debates(rows)
        versions_of_name = Counter(name for name, _ in debates)
        versions = [
            f"{name}: {version} ({count} of {len(rows)} debates)"
            for (name, version), count in sorted(debates.items())
            if versions_of_name[name] > 1 or ASKED in version
        ]
        if len(versions) > _MAX_NAMED:
            versions = [*versions[:_MAX_NAMED], f"and {len(versions) - _MAX_NAMED} more"]
        if versions:
            notes.append(
                f"Warning: {experiment}, {model}: these debates were served by other versions of a"
                f" model than was asked for, or by several: {'; '.join(versions)}."
            )
    return notes


def _count_debates(predictions: pd.DataFrame) -> Counter[tuple[str, str]]:
    """Return the number of debates that each version of each model served."""
    debates: Counter[tuple[str, str]] = Counter()
    for pairs in predictions["served_by"].dropna():
        debates.update((name, version) for name, version in pairs)
    return debates
