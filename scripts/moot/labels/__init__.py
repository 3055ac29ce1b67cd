"""Labels: the position of a judge's statement, given by functions of its text, a model or people.

A labeler is a function from statements (columns text, speaker, kind, case_id, round, turn, ...; one
row each) to a label of the rubric and the words that show it, in the order of the rows; ("", "")
means that a statement gets no label.
"""

from collections.abc import Callable, Iterable

import pandas as pd

from moot.core.registry import Registry

RULES, JUDGE, HUMAN, ADJUDICATED = "rules", "judge", "human", "adjudicated"
"""The labelers that are not registered.

They are the rubric's rules, a model (`judge`, `judge:NAME`), people who fill in sheets, and a
person who decides between annotators.
"""
PEOPLE = (ADJUDICATED, HUMAN)
"""The kinds of labels by people, by priority."""

Labeler = Callable[[pd.DataFrame], Iterable[tuple[str, str]]]

LABELERS: Registry[Labeler] = Registry("labeler", "labeler", "moot.labels")


def labeler(name: str) -> Callable[[Labeler], Labeler]:
    """Register a labeler: `@labeler("rules")` above `def label_by_rules(statements)`."""
    return LABELERS.register(name)


def kinds(labelers: "pd.Series[str]") -> "pd.Series[str]":
    """Return the kind of each labeler, such as rules, judge or human, without a name after it."""
    return labelers.str.partition(":")[0] if len(labelers) else labelers
