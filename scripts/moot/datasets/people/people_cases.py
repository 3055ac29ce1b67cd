"""Turn a cleaned table of people into cases, for all data sets of people."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import AfterValidator, Field, PositiveInt, ValidationInfo

from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.types import Column, Json
from moot.datasets import DatasetOptions, LoadContext, Loaded
from moot.datasets.near_duplicates import RelatedCases, split_by_family
from moot.datasets.people.exchange import BUILD, find_exchange
from moot.datasets.people.feature_ranking import Ranking, rank_features
from moot.datasets.reading.checks import (
    check_values,
    parse_booleans,
    parse_whole_numbers,
)

Narrative = Literal["list", "prose"]
PROTECTED = ("sex", "race", "age")


def _check_feature_is_named(
    values: tuple[str, str] | None, info: ValidationInfo
) -> tuple[str, str] | None:
    if values and info.data.get("exchange") == "":
        raise ValueError("'exchange_values' needs `exchange`; add it")
    return values


class PeopleOptions(DatasetOptions):
    """The options of every data set of people."""

    narrative: Narrative = Field(
        "prose",
        description="Form of the text: 'feature is value' clauses (list), or sentences (prose).",
    )
    features: Literal["all"] | PositiveInt = Field(
        "all",
        description="Features that models read: all, or the number of the highest in `ranking`.",
    )
    summary_features: PositiveInt | None = Field(
        None,
        description=(
            "Number of the highest features in `ranking` that a first paragraph of the text states"
            " before a second one states all, so that `judge_sees: ranked` of a courtroom can show"
            " it alone (the authors' code of AgenticSimLaw: 10). Default: no such paragraph."
        ),
    )
    ranking: Ranking = Field(
        "mutual_information",
        description="Method that ranks the features, on the training split alone.",
    )
    withhold: tuple[Literal["sex", "race", "age"], ...] = Field(
        (), description="Features that models do not read, for audits. Default: none."
    )
    exchange: Literal["", "sex", "race"] = Field(
        "",
        description=(
            "Feature that is exchanged in the test cases, all else equal, to make counterfactual"
            " people. Default: none."
        ),
    )
    exchange_values: Annotated[tuple[str, str] | None, AfterValidator(_check_feature_is_named)] = (
        Field(
            None,
            description=(
                "The two values of `exchange`. Default: male and female, or the values for white"
                " and Black in the data."
            ),
        )
    )

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns of the groups in the tables of people."""
        return PROTECTED


@dataclass(frozen=True, slots=True)
class People:
    """A cleaned table of people.

    Attributes:
        frame: columns id (string), label ("yes" or "no"), then typed columns. The index is the
            1-based row in the source.
        features: the columns that models may read; all others are for scoring alone.
        cleaning: counts of the cleaning report, by description.
        are_distinct: whether rows with equal features are different people; otherwise such rows go
            to one split.
    """

    frame: pd.DataFrame
    features: Sequence[str]
    task: Task
    cleaning: Mapping[str, int] = field(default_factory=dict)
    sources: Sequence[Path] = ()
    are_distinct: bool = False


@dataclass(frozen=True, slots=True)
class PlausibleRange:
    """The lowest and the highest plausible number in a column."""

    lowest: int
    highest: int
    unit: str = ""

    def check(self, values: Column) -> tuple[Column, dict[str, int]]:
        """Make implausible numbers of an Int64 column missing.

        Returns:
            The column, and counts for the cleaning report.
        """
        outside = ((values < self.lowest) | (values > self.highest)).fillna(value=False)
        range_text = f"{self.lowest} to {self.highest} {self.unit}".strip()
        return values.mask(outside), {
            f"{values.name} outside {range_text}, made missing": int(outside.sum())
        }


def typed_columns(
    path: Path,
    table: pd.DataFrame,
    names: Iterable[str],
    categories: Mapping[str, Sequence[str]],
    ranges: Mapping[str, PlausibleRange],
    may_be_blank: Sequence[str] = (),
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Convert columns of text to plausible whole numbers, categories, or else True and False.

    Args:
        path: the file of the table, for messages.
        table: columns of text.
        names: the columns to convert.
        categories: the values of each column of categories.
        ranges: the range of each column of numbers.
        may_be_blank: columns of numbers with blank cells.

    Returns:
        The typed columns, and the counts of the cleaning report.

    Raises:
        UserError: a value does not fit its column.
    """
    frame, cleaning = pd.DataFrame(index=table.index), {"rows read": len(table)}
    for name in names:
        if name in ranges:
            numbers = parse_whole_numbers(path, table[name], allows_blank=name in may_be_blank)
            frame[name], counts = ranges[name].check(numbers)
            cleaning |= counts
        elif name in categories:
            check_values(path, table[name], categories[name])
            frame[name] = pd.Categorical(table[name], categories=list(categories[name]))
        else:
            frame[name] = parse_booleans(path, table[name])
    return frame, cleaning


def load_people(
    people: People,
    options: PeopleOptions,
    context: LoadContext,
    narrate: Callable[[Mapping[str, object], Narrative], str],
    attributes: Sequence[str] = PROTECTED,
) -> Loaded:
    """Split people 60/20/20, stratified, and describe each person as a case.

    The frame of features has all features that are not withheld, even if the narrative has only
    the highest-ranked ones.

    Args:
        people: the cleaned table.
        options: the options of the data set.
        context: the context of the loader.
        narrate: writes the text from feature to value, in the form of a narrative.
        attributes: the columns that scores can be grouped by.

    Raises:
        UserError: a split lacks a label, or `features` exceeds the number of features.
    """
    frame, cleaning = people.frame, dict(people.cleaning)
    withheld = _withheld_columns(options)
    shown_features = [name for name in people.features if name in frame and name not in withheld]
    labels = dict(zip(frame["id"].map(str), frame["label"].map(str), strict=True))
    twins: list[RelatedCases] = []
    if not people.are_distinct:
        twins = _twins(people)
        cleaning["rows whose features equal an earlier row's (same split)"] = len(twins)
    splits = split_by_family(labels, twins, context.seed)
    _check_splits(context.name, people.task.labels, labels, splits)
    features = _features(frame, shown_features, splits)
    if options.features != "all":
        shown_features = _top_features(features, "features", options.features, options, context)
    summary_features: list[str] = []
    if options.summary_features:
        readable = features[[*features.columns[:3], *shown_features]]
        summary_features = _top_features(
            readable, "summary_features", options.summary_features, options, context
        )

    def describe(facts: Mapping[str, object]) -> str:
        text = narrate(facts, options.narrative)
        if not summary_features:
            return text
        summary = narrate({name: facts[name] for name in summary_features}, options.narrative)
        return f"{summary}\n\n{text}"

    def make_cases(table: pd.DataFrame) -> list[Case]:
        cases = []
        columns = list(table.columns)
        for number, cells in zip(table.index, table.to_numpy(dtype=object), strict=True):
            row = dict(zip(columns, cells, strict=True))
            facts = {name: _plain_value(row[name]) for name in shown_features}
            values = {name: row[name] for name in attributes if name in row}
            cases.append(
                Case(
                    case_id=str(row["id"]),
                    dataset=context.name,
                    split=splits[str(row["id"])],
                    text=describe(facts),
                    target=str(row["label"]),
                    labels=people.task.labels,
                    attributes={
                        name: "" if pd.isna(value) else str(value) for name, value in values.items()
                    },
                    source_row=int(str(number)),
                )
            )
        return cases

    cases, task = make_cases(frame), people.task
    if options.exchange:
        exchange = find_exchange(
            context.name, options.exchange, options.exchange_values, frame, shown_features
        )
        task = exchange.describe(task, cases)
        frame, counts = exchange.apply(frame, frame["id"].map(splits) == "test")
        cases, cleaning = make_cases(frame), cleaning | counts
        features = _features(frame, list(features.columns[3:]), splits)
    training_texts = {case.text for case in cases if case.split == "train"}
    cleaning["test texts that stand in training too"] = sum(
        case.split == "test" and case.text in training_texts for case in cases
    )
    return Loaded(cases, task, features.reset_index(drop=True), cleaning, people.sources)


def _withheld_columns(options: PeopleOptions) -> set[str]:
    columns = set[str]()
    for name in map(str, options.withhold):
        columns |= set(BUILD) if name == "build" else {name}
    return columns


def _features(frame: pd.DataFrame, names: Sequence[str], splits: Mapping[str, str]) -> pd.DataFrame:
    features = frame[["id", "label", *names]].rename(columns={"id": "case_id"})
    features.insert(1, "split", features["case_id"].map(splits))
    return features


def _twins(people: People) -> list[RelatedCases]:
    """Pair each row with the first row of equal features, perhaps the same person under two ids."""
    frame = people.frame
    columns = [name for name in people.features if name in frame]
    first = frame.groupby(columns, dropna=False, observed=True, sort=False)["id"].transform("first")
    return [
        RelatedCases(str(first_id), str(case_id))
        for first_id, case_id in zip(first, frame["id"], strict=True)
        if first_id != case_id
    ]


def _top_features(
    features: pd.DataFrame, key: str, count: int, options: PeopleOptions, context: LoadContext
) -> list[str]:
    """Return the highest-ranked features, as many as the option `key` says."""
    ranked = rank_features(features, options.ranking, context.seed).index.tolist()
    if count > len(ranked):
        raise UserError(
            f"datasets.{context.name}.{key}: found {count}, but only {len(ranked)} features are"
            f" available; expected at most {len(ranked)}. Lower it."
        )
    return ranked[:count]


def _plain_value(value: Json) -> object:
    """Return a cell as a plain value: None if it is missing."""
    if pd.isna(value):
        return None
    if isinstance(value, bool | str):
        return value
    return bool(value) if str(value) in ("True", "False") else int(value)


def _check_splits(
    name: str, labels: Sequence[str], targets: Mapping[str, str], splits: Mapping[str, str]
) -> None:
    """Require each of `labels` in every split of a data set.

    `targets` and `splits` are by case id.
    """
    for split_name in ("train", "validation", "test"):
        label_counts = Counter(
            targets[case_id] for case_id, case_split in splits.items() if case_split == split_name
        )
        for label in labels:
            if not label_counts[label]:
                counts_text = (
                    ", ".join(f"{count} {target}" for target, count in sorted(label_counts.items()))
                    or "no case at all"
                )
                raise UserError(
                    f"data set '{name}': the {split_name} split has no case of label '{label}'"
                    " (found"
                    f" {counts_text}; {len(targets)} cases in all); expected one of each label at"
                    " least."
                    " Use more cases."
                )
