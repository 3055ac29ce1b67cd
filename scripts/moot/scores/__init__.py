"""Scores: each module registers functions that compute rows of the scores artifact.

A scorer reads artifacts; it does not know protocols or endpoints. If it does not apply, it returns
no rows.

All modules follow these conventions:

* `group` is "overall", "attribute=value" (sex=male), "retries=0" (debates whose calls never had to
  be repeated), "speaker=judge", "opinion=first", or several of these joined by ";".
* a metric drops invalid answers; the same name with the suffix `_invalid_wrong` counts them as
    wrong.
* `n` is how many rows of predictions (debates) the value rests on, `n_cases` how many cases these
  belong to, `n_invalid` how many rows of the group had no usable answer.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields
from operator import attrgetter

import pandas as pd

from moot.core.registry import Registry
from moot.core.schemas import SCHEMAS
from moot.scores.results import ExperimentResults
from moot.scores.score import Score

INVALID_WRONG = "_invalid_wrong"

SCORE_COLUMNS = tuple(SCHEMAS["scores"].names)
_SCORE_FIELDS = tuple(field.name for field in fields(Score))
_field_values = attrgetter(*_SCORE_FIELDS)


def to_frame(experiment: str, model: str, scores: Iterable[Score]) -> pd.DataFrame:
    """Convert the scores of one experiment and model to rows of the scores schema."""
    return scores_by_model(experiment, [(model, scores)])


def scores_by_model(
    experiment: str, model_scores: Iterable[tuple[str, Iterable[Score]]]
) -> pd.DataFrame:
    """Convert the scores of one experiment, each with its model, to rows of the scores schema."""
    rows: list[tuple[object, ...]] = []
    for model, scores in model_scores:
        rows += [(experiment, model, *_field_values(score)) for score in scores]
    if not rows:
        return no_scores()
    frame = pd.DataFrame(rows, columns=["experiment", "model", *_SCORE_FIELDS])
    return frame[list(SCORE_COLUMNS)]


def no_scores() -> pd.DataFrame:
    """Return the frame of a scorer that does not apply: the scores' columns, and no row."""
    frame: pd.DataFrame = SCHEMAS["scores"].empty_table().to_pandas()
    return frame


def concat_scores(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate score frames without those that have no rows."""
    nonempty = [frame for frame in frames if len(frame)]
    return pd.concat(nonempty, ignore_index=True) if nonempty else no_scores()


def by_model(
    results: ExperimentResults, scores_of: Callable[[str], Iterable[Score]]
) -> pd.DataFrame:
    """Return the scores of each model of an experiment in one frame."""
    model_scores = ((model, scores_of(model)) for model in results.config.models)
    return scores_by_model(results.experiment, model_scores)


Scorer = Callable[[ExperimentResults], pd.DataFrame]

SCORERS: Registry[Scorer] = Registry("scorer", "scores", "moot.scores")


def scorer(name: str) -> Callable[[Scorer], Scorer]:
    """Register a scorer: `@scorer("NAME")` above `def name(results) -> frame`."""
    return SCORERS.register(name)


def score_experiment(results: ExperimentResults) -> pd.DataFrame:
    """Return the rows of every registered scorer for one experiment.

    Rows are in the order of the scorers' names.

    Raises:
        ValueError: a scorer's frame does not have the columns of the scores schema (a programming
            error).
    """
    frames = []
    for name in SCORERS:
        frame = SCORERS[name](results)
        if set(frame.columns) != set(SCORE_COLUMNS):
            raise ValueError(
                f"scorer '{name}': columns {sorted(frame.columns)}, expected"
                f" {sorted(SCORE_COLUMNS)}"
            )
        frames.append(frame[list(SCORE_COLUMNS)])
    return concat_scores(frames)
