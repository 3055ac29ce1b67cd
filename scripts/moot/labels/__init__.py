"""Labels: what position a judge's statement takes, by functions of its text, by a model, or by
people.

A labeler is a function from statements (columns text, speaker, kind, case_id, round, turn, ...; one
row each) to a label of the rubric and the words that show it, in the order of the rows; ("", "")
leaves a statement unlabelled.
"""

from collections.abc import Callable, Iterable

import pandas as pd

from moot.core.registry import Registry

RULES, JUDGE, HUMAN, ADJUDICATED = "rules", "judge", "human", "adjudicated"
"""The labelers that are not registered: the rubric's rules, a model (`judge`, `judge:NAME`), people
who fill in sheets, and the person who decides between annotators that differ.
"""
PEOPLE = (ADJUDICATED, HUMAN)
"""Kinds of labels that people gave, those that count more first."""

Labeler = Callable[[pd.DataFrame], Iterable[tuple[str, str]]]

LABELERS: Registry[Labeler] = Registry("labeler", "labeler", "moot.labels")


def labeler(name: str) -> Callable[[Labeler], Labeler]:
    """Register a labeler: `@labeler("rules")` above `def label_by_rules(statements)`."""
    return LABELERS.register(name)


def kinds(labelers: "pd.Series[str]") -> "pd.Series[str]":
    """Return the kind of each labeler: rules, judge, human, ... without the name behind it."""
    return labelers.str.partition(":")[0] if len(labelers) else labelers
