"""Labels: the position of a judge's statement, given by its rubric's rules, a model or people."""

import pandas as pd

RULES, JUDGE, HUMAN, ADJUDICATED = "rules", "judge", "human", "adjudicated"
"""The labelers.

They are the rubric's rules, a model (`judge`, `judge:NAME`), people who fill in sheets, and a
person who decides between annotators.
"""
PEOPLE = (ADJUDICATED, HUMAN)
"""The kinds of labels by people, by priority."""


def kinds(labelers: "pd.Series[str]") -> "pd.Series[str]":
    """Return the kind of each labeler, such as rules, judge or human, without a name after it."""
    return labelers.str.partition(":")[0] if len(labelers) else labelers
