"""Counterfactual people: the same test cases with sex or race exchanged.

The exchange happens in the table, before the narrative is written, so that all words that depend on
the feature (man, his, she) follow the exchanged value. Height, weight and the recorded outcome do
not change. Training and validation cases do not change either, so models learn from the same
examples.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from moot.core.cases import Case, Task
from moot.core.errors import UserError

BUILD = ("height_total_inches", "num_weight")
"""The measures of the body, which reveal the sex of most people."""

SEX, RACE = "sex", "race"
PAIRS: Mapping[str, tuple[tuple[str, str], ...]] = {
    SEX: (("male", "female"),),
    RACE: (
        ("white", "black"),
        ("non-black, non-hispanic", "black"),
    ),
}
"""The default pairs of values; the first pair whose values the data have is exchanged."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange of two values of a feature.

    Attributes:
        feature: `sex` or `race`.
        values: the two values.
        shows_measures: whether models read height or weight.
    """

    feature: str
    values: tuple[str, str]
    shows_measures: bool = False

    def describe(self, task: Task, cases: Iterable[Case]) -> Task:
        """Return the task of the changed people, from the cases as recorded."""
        first, second = self.values
        measures = ", height and weight among it" if self.shows_measures else ""
        note = (
            f"counterfactual: in the test cases {self.feature} is exchanged between {first} and "
            f"{second}; all else{measures}, is unchanged, and the outcome is the recorded person's"
        )
        test_cases = ((case.case_id, case.text) for case in cases if case.split == "test")
        return replace(
            task,
            notes=(*task.notes, note),
            exchanged=self.feature,
            exchanged_from=digest_of_texts(test_cases),
        )

    def apply(
        self, frame: pd.DataFrame, is_test: "pd.Series[bool]"
    ) -> tuple[pd.DataFrame, dict[str, int]]:
        """Exchange the feature in the rows of test cases.

        Returns:
            The table, and counts for the cleaning report.
        """
        first, second = self.values
        column = frame[self.feature]
        swapped = column.astype("object").map({first: second, second: first})
        is_changed = is_test & swapped.notna()
        values = column.astype("object").where(~is_changed, swapped)
        exchanged = frame.assign(
            **{self.feature: pd.Categorical(values, categories=list(column.cat.categories))}
        )
        description = f"test cases with {self.feature} exchanged ({first}, {second})"
        unchanged = int((is_test & ~is_changed).sum())
        return exchanged, {
            description: int(is_changed.sum()),
            f"test cases of another {self.feature}, unchanged": unchanged,
        }


def find_exchange(
    name: str,
    feature: str,
    values: tuple[str, str] | None,
    frame: pd.DataFrame,
    shown_features: Iterable[str],
) -> Exchange:
    """Return the exchange that the options of a data set request.

    Args:
        name: the name of the data set.
        feature: `sex` or `race`.
        values: the two values that are exchanged; None for the default pair.
        frame: the cleaned table, whose columns are categories.
        shown_features: the features that models read.

    Raises:
        UserError: the feature is withheld, or the data do not have these values.
    """
    shown_features = list(shown_features)
    if feature not in shown_features:
        raise UserError(
            f"datasets.{name}.exchange: models do not read {feature}, so exchanging it changes"
            f" nothing; expected one of {', '.join(shown_features)}. Show it (`withhold`,"
            " `features`), or remove `exchange`."
        )
    categories = set(frame[feature].cat.categories)
    pairs = [values] if values else PAIRS[feature]
    match = next((pair for pair in pairs if set(pair) <= categories and pair[0] != pair[1]), None)
    if match is None:
        raise UserError(
            f"datasets.{name}.exchange_values: found {' and '.join(pairs[0])}; expected two"
            f" different values of {feature}: {', '.join(sorted(categories))}. Name two of them."
        )
    return Exchange(feature, match, any(name in shown_features for name in BUILD))


def digest_of_texts(texts: Iterable[tuple[str, str]]) -> str:
    """Return a digest of cases by id and text that does not depend on their order."""
    pairs = sorted((str(case_id), str(text)) for case_id, text in texts)
    return hashlib.sha256(repr(pairs).encode()).hexdigest()[:16]
