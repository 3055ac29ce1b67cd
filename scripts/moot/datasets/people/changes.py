"""Changes of people: what analyses alter in the test cases of a data set of people.

A change happens in the table, before the narrative is written, so that all words that depend on a
feature follow its new value. Training and validation cases must not change.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from moot.core.cases import Case, Task
from moot.core.registry import Registry
from moot.datasets import DatasetOptions


@dataclass(frozen=True, slots=True)
class SplitPeople:
    """People before a change.

    Attributes:
        dataset: the name of the data set, for messages.
        frame: the cleaned table; see `moot.datasets.people.people_cases.People`.
        is_test: whether each row is a test case.
        shown_features: the features that models read.
        task: the task of the data set.
        cases: the cases of the table as recorded.
    """

    dataset: str
    frame: pd.DataFrame
    is_test: "pd.Series[bool]"
    shown_features: Sequence[str]
    task: Task
    cases: Sequence[Case]


@dataclass(frozen=True, slots=True)
class ChangedPeople:
    """People after a change.

    Attributes:
        frame: the changed table.
        task: the task, with a note about the change.
        cleaning: further counts of the cleaning report, by description.
    """

    frame: pd.DataFrame
    task: Task
    cleaning: Mapping[str, int]


ChangePeople = Callable[[DatasetOptions, SplitPeople], ChangedPeople | None]
CHANGES_OF_PEOPLE: Registry[ChangePeople] = Registry("change of people", "changes_of_people")
"""Changes of people, each in a module `changes_of_people*`; None: the options request no change."""
