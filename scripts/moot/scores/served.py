"""Who served an experiment: a server may change what stands behind a model's name while a run goes on."""

from collections import Counter

import pandas as pd

from moot.scores import concat_scores, scorer, to_frame
from moot.scores.results import ExperimentResults, Score

METRIC, GROUP = "debates_served", "served_by="
_MOST_NAMED = 4


@scorer("served")
def served(results: ExperimentResults) -> pd.DataFrame:
    """`debates_served` by version of a model (group "served_by=MODEL: VERSION"), where a model had more than one."""
    predictions = results.predictions
    if "served_by" not in predictions:  # written before servers were asked for their version
        return concat_scores([])
    frames = []
    for model, rows in predictions.groupby("model", sort=True):
        debates: Counter[tuple[str, str]] = Counter()
        for pairs in rows["served_by"].dropna():
            debates.update((name, version) for name, version in pairs)
        versions = Counter(name for name, _ in debates)
        scores = [
            Score(METRIC, float(count), group=f"{GROUP}{name}: {version}", n=len(rows))
            for (name, version), count in sorted(debates.items())
            if versions[name] > 1
        ]
        frames.append(to_frame(results.experiment, str(model), scores))
    return concat_scores(frames)


def version_notes(scores: pd.DataFrame) -> list[str]:
    """A sentence for each experiment and model whose rows were served by more than one version of a model."""
    notes = []
    for (experiment, model), found in scores[scores["metric"] == METRIC].groupby(["experiment", "model"], sort=False):
        versions = [
            f"{group.removeprefix(GROUP)} ({value:.0f} of {n} debates)"
            for group, value, n in zip(found["group"], found["value"], found["n"], strict=True)
        ]
        if len(versions) > _MOST_NAMED:
            versions = [*versions[:_MOST_NAMED], f"and {len(versions) - _MOST_NAMED} more"]
        notes.append(
            f"Warning: {experiment}, {model}: these debates were served by more than one version of a model: "
            f"{'; '.join(versions)}."
        )
    return notes
