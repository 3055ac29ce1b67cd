"""From a cleaned table of people to cases: what the data sets of people (NLSY97, COMPAS) have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import Field, PositiveInt

from moot.core.cases import Case, Task, stratified_splits
from moot.core.errors import UserError
from moot.core.input_files import check_splits
from moot.datasets import DatasetOptions, LoadContext, Loaded
from moot.datasets.people.feature_ranking import Ranking, rank_features

Narrative = Literal["list", "prose"]
PROTECTED = ("sex", "race", "age")


class PeopleOptions(DatasetOptions):
    """What an entry of the configuration may say about any data set of people."""

    narrative: Narrative = Field("prose", description="'feature is value' clauses, or whole sentences")
    features: Literal["all"] | PositiveInt = Field("all", description="all, or the n that `ranking` puts first")
    ranking: Ranking = Field("mutual_information", description="how features are ranked, on the training split alone")
    withhold: tuple[Literal["sex", "race", "age"], ...] = Field((), description="features told to nobody, for audits")


@dataclass(frozen=True, slots=True)
class People:
    """A cleaned table of people.

    Attributes:
        frame: index 1-based row of the source; columns id (string), label ("yes" or "no"), then typed columns.
        features: the columns that may be told to models; all others are for scoring alone.
        task: what is asked of a case.
        cleaning: what cleaning found, description to count.
        sources: the files that were read.
    """

    frame: pd.DataFrame
    features: Sequence[str]
    task: Task
    cleaning: Mapping[str, int] = field(default_factory=dict)
    sources: Sequence[Path] = ()


def load_people(
    people: People,
    options: PeopleOptions,
    context: LoadContext,
    narrate: Callable[[Mapping[str, object], Narrative], str],
    attributes: Sequence[str] = PROTECTED,
) -> Loaded:
    """Split people 60/20/20, stratified, and tell each as a case; `attributes` are columns that scoring may group by.

    The frame of features keeps every feature but the withheld ones, also where the narrative tells the top n alone.

    Raises:
        UserError: a split without a case of either label, or more features asked for than there are.
    """
    frame = people.frame
    told = [name for name in people.features if name in frame and name not in options.withhold]
    labels = {str(case_id): str(label) for case_id, label in zip(frame["id"], frame["label"], strict=True)}
    splits = stratified_splits(labels, context.seed)
    check_splits(context.name, people.task.labels, labels, splits)
    features = frame[["id", "label", *told]].rename(columns={"id": "case_id"})
    features.insert(1, "split", features["case_id"].map(splits))
    if options.features != "all":
        told = _first(features, options.features, options.ranking, context)
    cases = [
        Case(
            case_id=str(row["id"]),
            dataset=context.name,
            split=splits[str(row["id"])],
            text=narrate({name: _plain(row[name]) for name in told}, options.narrative),
            target=str(row["label"]),
            labels=people.task.labels,
            attributes={name: "" if pd.isna(row[name]) else str(row[name]) for name in attributes if name in row},
            source_row=int(str(number)),
        )
        for number, row in frame.iterrows()
    ]
    return Loaded(cases, people.task, features.reset_index(drop=True), people.cleaning, people.sources)


def _first(features: pd.DataFrame, count: int, ranking: Ranking, context: LoadContext) -> list[str]:
    ranked = rank_features(features, ranking, context.seed).index.tolist()
    if count > len(ranked):
        raise UserError(
            f"datasets.{context.name}.features: found {count}, but only {len(ranked)} features are left to tell; "
            "expected 'all' or a number up to that. Lower it."
        )
    return ranked[:count]


def _plain(value: Any) -> object:
    """A cell as a plain value: None where it is missing."""
    if pd.isna(value):
        return None
    return value if isinstance(value, bool | str) else bool(value) if str(value) in ("True", "False") else int(value)
