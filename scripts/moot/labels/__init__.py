"""Labels: what position a judge's statement takes, by functions of its text, by a model, or by people.

A labeler is a function from statements (columns text, speaker, kind, case_id, round, turn, ...; one row each) to a
label of the rubric and the words that show it, in the order of the rows; ("", "") leaves a statement unlabelled.
"""

from collections.abc import Callable, Iterable

import pandas as pd

from moot.core.registry import Registry

JUDGE, HUMAN = "judge", "human"
"""The labelers that are no functions: a model (`judge`, `judge:NAME`), and people who fill in sheets."""
JUDGE_PROMPT = "panel/label"
"""The prompt template of a model that labels."""

Labeler = Callable[[pd.DataFrame], Iterable[tuple[str, str]]]

LABELERS: Registry[Labeler] = Registry("labeler", "moot.labels")


def labeler(name: str) -> Callable[[Labeler], Labeler]:
    """Register a labeler: `@labeler("rules")` above `def label_by_rules(statements)`."""
    return LABELERS.register(name)
