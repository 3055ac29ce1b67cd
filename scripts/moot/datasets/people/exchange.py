"""Counterfactual people: the same test cases with sex or race exchanged, and everything else as it
is.

The exchange is made in the table, before anything is told, so that every word that follows from the
feature (man, his, she) follows from the exchanged one. Height and weight stay, and so does the
outcome: it is that of the person as recorded. Training and validation cases stay too, so that what
is learnt or shown as an example is the same.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from moot.core.cases import Case
from moot.core.errors import UserError

SEX, RACE = "sex", "race"
BUILD = ("height_total_inches", "num_weight")
"""A body's measures, which tell the sex of most people."""
PAIRS: Mapping[str, tuple[tuple[str, str], ...]] = {
    SEX: (("male", "female"),),
    RACE: (
        ("white", "black"),
        ("Caucasian", "African-American"),
        ("non-black, non-hispanic", "black"),
    ),
}
"""What is exchanged where the configuration names no pair: the first whose values the data have."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Which feature is exchanged, between which two of its values, and whether a body's measures
    are told with it.
    """

    feature: str
    values: tuple[str, str]
    measures_told: bool = False

    @property
    def note(self) -> str:
        """What a reader must know of the data."""
        one, other = self.values
        kept = ", height and weight among it" if self.measures_told else ""
        return (
            f"counterfactual: in the test cases {self.feature} is exchanged between {one} and"
            f" {other}; all else{kept}, stays as it is, and the outcome is that of the person as"
            " recorded"
        )

    def apply(
        self, frame: pd.DataFrame, test: "pd.Series[bool]"
    ) -> tuple[pd.DataFrame, dict[str, int]]:
        """A table of people with the feature exchanged in some rows, and how many were (for the
        cleaning report).
        """
        one, other = self.values
        column = frame[self.feature]
        swapped = column.astype("object").map({one: other, other: one})
        changed = test & swapped.notna()
        values = column.astype("object").where(~changed, swapped)
        exchanged = frame.assign(
            **{self.feature: pd.Categorical(values, categories=list(column.cat.categories))}
        )
        named = f"test cases with {self.feature} exchanged ({one}, {other})"
        left = int((test & ~changed).sum())
        return exchanged, {
            named: int(changed.sum()),
            f"test cases of another {self.feature}, left as they are": left,
        }


def find_exchange(
    name: str,
    feature: str,
    values: tuple[str, str] | None,
    frame: pd.DataFrame,
    told: Iterable[str],
) -> Exchange:
    """The exchange that a data set's options ask for.

    Args:
        feature, values: `sex` or `race`, and the two values that are exchanged; None for the usual
            ones.
        frame: the cleaned table, whose columns are categories.

    Raises:
        UserError: the feature is withheld, or the data do not have these values.
    """
    told = list(told)
    if feature not in told:
        raise UserError(
            f"datasets.{name}.exchange: {feature} is not told of these people, so that exchanging"
            f" it changes nothing; told are {', '.join(told)}. Tell it (`withhold`, `features`), or"
            " remove `exchange`."
        )
    known = set(frame[feature].cat.categories)
    pairs = [values] if values else PAIRS[feature]
    found = next((pair for pair in pairs if set(pair) <= known and pair[0] != pair[1]), None)
    if found is None:
        raise UserError(
            f"datasets.{name}.exchange_values: found {' and '.join(pairs[0])}; expected two"
            f" different values of {feature}: {', '.join(sorted(known))}. Name two of them."
        )
    return Exchange(feature, found, any(name in told for name in BUILD))


def digest_of_texts(texts: Iterable[tuple[str, str]]) -> str:
    """A digest of some cases by id and text, in any order."""
    return hashlib.sha256(
        repr(sorted((str(case), str(text)) for case, text in texts)).encode()
    ).hexdigest()[:16]


def digest_of_test_cases(cases: Iterable[Case]) -> str:
    """The digest of a data set's test cases, by which a counterfactual data set is known to be made
    of it.
    """
    return digest_of_texts((case.case_id, case.text) for case in cases if case.split == "test")
