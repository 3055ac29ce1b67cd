"""From a cleaned table of people to cases: what the data sets of people (NLSY97, COMPAS) have in
common.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import Field, PositiveInt, model_validator

from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.input_files import booleans, check_splits, check_values, whole_numbers
from moot.core.types import Column, Json
from moot.datasets import DatasetOptions, LoadContext, Loaded
from moot.datasets.near_duplicates import Related, splits_by_family
from moot.datasets.people.exchange import BUILD, digest_of_test_cases, find_exchange
from moot.datasets.people.feature_ranking import Ranking, rank_features

Narrative = Literal["list", "prose"]
PROTECTED = ("sex", "race", "age")


class PeopleOptions(DatasetOptions):
    """What an entry of the configuration may say about any data set of people."""

    narrative: Narrative = Field(
        "prose", description="'feature is value' clauses, or whole sentences"
    )
    features: Literal["all"] | PositiveInt = Field(
        "all", description="all, or the n that `ranking` puts first"
    )
    ranking: Ranking = Field(
        "mutual_information", description="how features are ranked, on the training split alone"
    )
    withhold: tuple[Literal["sex", "race", "age"], ...] = Field(
        (), description="features withheld, for audits"
    )
    exchange: Literal["", "sex", "race"] = Field(
        "",
        description=(
            "counterfactual people: the feature that is exchanged in the test cases, all else equal"
        ),
    )
    exchange_values: tuple[str, str] | None = Field(
        None,
        description=(
            "with `exchange`: the two values; none: male and female, or the white and Black of the"
            " data"
        ),
    )

    @property
    def groups(self) -> tuple[str, ...]:
        """As the tables of these people name them."""
        return PROTECTED

    @model_validator(mode="after")
    def _values_of_an_exchange(self) -> "PeopleOptions":
        if self.exchange_values and not self.exchange:
            raise ValueError("'exchange_values' belongs to `exchange`; add it")
        return self


@dataclass(frozen=True, slots=True)
class People:
    """A cleaned table of people.

    Attributes:
        frame: index 1-based row of the source; columns id (string), label ("yes" or "no"), then
            typed columns.
        features: the columns that may be told to models; all others are for scoring alone.
        cleaning: what cleaning found, description to count.
        told_apart: rows are different people even if all features are equal. If not, rows that
            agree in all features go to one split.
    """

    frame: pd.DataFrame
    features: Sequence[str]
    task: Task
    cleaning: Mapping[str, int] = field(default_factory=dict)
    sources: Sequence[Path] = ()
    told_apart: bool = False


@dataclass(frozen=True, slots=True)
class Plausible:
    """The lowest and the highest number that a person can have in a column."""

    lowest: int
    highest: int
    unit: str = ""

    def check(self, values: Column) -> tuple[Column, dict[str, int]]:
        """An Int64 column with impossible numbers made missing, and how many there were (for the
        cleaning report).
        """
        outside = ((values < self.lowest) | (values > self.highest)).fillna(value=False)
        named = f"{self.lowest} to {self.highest} {self.unit}".strip()
        return values.mask(outside), {
            f"{values.name} outside {named}, made missing": int(outside.sum())
        }


def typed_columns(
    path: Path,
    table: pd.DataFrame,
    names: Iterable[str],
    categories: Mapping[str, Sequence[str]],
    plausible: Mapping[str, Plausible],
    may_be_blank: Sequence[str] = (),
) -> tuple[pd.DataFrame, dict[str, int]]:
    """The named columns of text as categories, plausible whole numbers, and else True or False.

    With the cleaning report, description to count; raises `UserError` for a value that is none of
    these.
    """
    frame, cleaning = pd.DataFrame(index=table.index), {"rows read": len(table)}
    for name in names:
        if name in plausible:
            numbers = whole_numbers(path, table[name], blank=name in may_be_blank)
            frame[name], found = plausible[name].check(numbers)
            cleaning |= found
        elif name in categories:
            check_values(path, table[name], categories[name])
            frame[name] = pd.Categorical(table[name], categories=list(categories[name]))
        else:
            frame[name] = booleans(path, table[name])
    return frame, cleaning


def load_people(
    people: People,
    options: PeopleOptions,
    context: LoadContext,
    narrate: Callable[[Mapping[str, object], Narrative], str],
    attributes: Sequence[str] = PROTECTED,
) -> Loaded:
    """Split people 60/20/20, stratified, and tell each as a case; `attributes` are columns that
    scoring may group by.

        The frame of features keeps every feature but the withheld ones, also where the narrative
        tells the top n alone.

        Raises:
            UserError: a split without a case of either label, or more features asked for than there
                are.
    """
    frame, cleaning = people.frame, dict(people.cleaning)
    withheld = {
        column
        for name in map(str, options.withhold)
        for column in (BUILD if name == "build" else (name,))
    }
    told = [name for name in people.features if name in frame and name not in withheld]
    labels = {
        str(case_id): str(label) for case_id, label in zip(frame["id"], frame["label"], strict=True)
    }
    twins = [] if people.told_apart else _twins(people)
    cleaning |= (
        {}
        if people.told_apart
        else {"rows whose features equal an earlier row's (same split)": len(twins)}
    )
    splits = splits_by_family(labels, twins, context.seed)
    check_splits(context.name, people.task.labels, labels, splits)
    features = _features(frame, told, splits)
    if options.features != "all":
        told = _first(features, options.features, options.ranking, context)

    def tell(table: pd.DataFrame) -> list[Case]:
        return [
            Case(
                case_id=str(row["id"]),
                dataset=context.name,
                split=splits[str(row["id"])],
                text=narrate({name: _plain(row[name]) for name in told}, options.narrative),
                target=str(row["label"]),
                labels=people.task.labels,
                attributes={
                    name: "" if pd.isna(row[name]) else str(row[name])
                    for name in attributes
                    if name in row
                },
                source_row=int(str(number)),
            )
            for number, row in table.iterrows()
        ]

    cases, task = tell(frame), people.task
    if options.exchange:
        exchange = find_exchange(
            context.name, options.exchange, options.exchange_values, frame, told
        )
        exchanged, counted = exchange.apply(frame, frame["id"].map(splits) == "test")
        task = replace(
            task,
            notes=(*task.notes, exchange.note),
            exchanged=options.exchange,
            exchanged_from=digest_of_test_cases(cases),
        )
        cases, features = tell(exchanged), _features(exchanged, list(features.columns[3:]), splits)
        cleaning |= counted
    known = {case.text for case in cases if case.split == "train"}
    cleaning["test texts that stand in training too"] = sum(
        case.split == "test" and case.text in known for case in cases
    )
    return Loaded(cases, task, features.reset_index(drop=True), cleaning, people.sources)


def _features(frame: pd.DataFrame, told: Sequence[str], splits: Mapping[str, str]) -> pd.DataFrame:
    features = frame[["id", "label", *told]].rename(columns={"id": "case_id"})
    features.insert(1, "split", features["case_id"].map(splits))
    return features


def _twins(people: People) -> list[Related]:
    """Rows that agree in all features, each with the first such row: perhaps one person under two
    ids.
    """
    frame = people.frame
    columns = [name for name in people.features if name in frame]
    first = frame.groupby(columns, dropna=False, observed=True, sort=False)["id"].transform("first")
    return [
        Related(str(one), str(other))
        for one, other in zip(first, frame["id"], strict=True)
        if one != other
    ]


def _first(features: pd.DataFrame, count: int, ranking: Ranking, context: LoadContext) -> list[str]:
    ranked = rank_features(features, ranking, context.seed).index.tolist()
    if count > len(ranked):
        raise UserError(
            f"datasets.{context.name}.features: found {count}, but only {len(ranked)} features are"
            " left to tell; expected 'all' or a number up to that. Lower it."
        )
    return ranked[:count]


def _plain(value: Json) -> object:
    """A cell as a plain value: None where it is missing."""
    if pd.isna(value):
        return None
    return (
        value
        if isinstance(value, bool | str)
        else bool(value)
        if str(value) in ("True", "False")
        else int(value)
    )
