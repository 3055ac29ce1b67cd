"""Cases: a text to argue about, its true label, and the task that it belongs to."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

SplitName = Literal["train", "validation", "test"]
Cluster = str | tuple[str, ...]
"""A name, or one name of each kind if cases belong to clusters of several kinds."""

NEAR_DUPLICATE_OF = "near_duplicate_of"
"""Attribute of a training or validation case that would leak a test case: the id of that case."""
_TRAIN_SHARE, _VALIDATION_SHARE = 0.6, 0.2


@dataclass(frozen=True, slots=True)
class Case:
    """One case. A model may see only `text`; `target` and `attributes` are only for scoring.

    Attributes:
        case_id: unique within the data set, stable across runs.
        split: train, validation or test; only test cases are evaluated.
        text: the facts, as shown to models.
        target: the true label, as the data spell it; several labels are sorted and joined by ";".
        labels: every label that a prediction may take.
        attributes: values by which scores may be grouped (sex, court, topic, ...), as strings.
        source_row: the 1-based row or record in the source that the case came from.
    """

    case_id: str
    dataset: str
    split: SplitName
    text: str
    target: str
    labels: tuple[str, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)
    source_row: int = 0


@dataclass(frozen=True, slots=True)
class Task:
    """The description of a data set, from which every protocol takes its words.

    Attributes:
        noun: the noun for a case ("the defendant", "the claim").
        question: the question that a prediction answers, one sentence.
        labels: every label; for two labels the negative one first.
        positive: the positive label of binary scores ("" for none).
        meaning: the meaning of each label, a clause that completes "that ..." ("the defendant will
            be rearrested").
        background: one or two sentences of context for every prompt ("" for none).
        roles: the name of each seat on this data ("prosecutor" -> "plaintiff's counsel").
        language: the language of texts and prompts ("en", "zh").
        multilabel: whether a target may hold several labels, joined by ";".
        notes: remarks on the data that every table shows below (for example "synthetic").
        cluster: the attribute that cases with a common source share (a motion, a topic); intervals
            draw whole clusters. "" if each case is its own cluster; several attributes if cases
            share a source of several kinds (a story, a judge).
        exchanged: the feature that is exchanged in the test cases of counterfactual people; ""
            elsewhere.
        exchanged_from: a digest of the test cases before the exchange.
        groups: the attributes that give the groups of the people in cases; error rates are compared
            by them.
    """

    noun: str
    question: str
    labels: tuple[str, ...]
    positive: str = ""
    meaning: Mapping[str, str] = field(default_factory=dict)
    background: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    language: str = "en"
    multilabel: bool = False
    notes: tuple[str, ...] = ()
    cluster: Cluster = ""
    exchanged: str = ""
    exchanged_from: str = ""
    groups: tuple[str, ...] = ()


def cluster_attributes(cluster: Cluster | None) -> tuple[str, ...]:
    """Return the attributes that a `cluster` names."""
    return ((cluster,) if isinstance(cluster, str) else cluster) if cluster else ()


def cluster_name(case: Case, task: Task) -> Cluster:
    """Return the cluster of a case.

    It is the value of the task's `cluster` (a tuple for several), or else the case itself.
    """
    cluster_values = tuple(case.attributes[name] for name in cluster_attributes(task.cluster)) or (
        case.case_id,
    )
    return cluster_values if len(cluster_values) > 1 else cluster_values[0]


def resembles_test_case(case: Case) -> bool:
    """Return whether a training or validation case resembles a test case.

    Nothing may be learnt from such a case.
    """
    return bool(case.attributes.get(NEAR_DUPLICATE_OF)) and case.split != "test"


def stable_fraction(*parts: object) -> float:
    """Return a number in [0, 1) that depends only on `parts`.

    It is the same on every machine and in every run.
    """
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def open_cases(cases: Sequence[Case], split_name: str) -> list[Case]:
    """Return the cases of a split, without those that resemble a test case.

    All test cases are returned.
    """
    return [case for case in cases if case.split == split_name and not resembles_test_case(case)]


def choose_cases(cases: Sequence[Case], count: int | None, seed: int) -> list[Case]:
    """Choose `count` cases by a seed (None: all), in a stable order.

    A larger count includes the cases of a smaller one.

    The order spreads each target evenly. Therefore the first cases, whatever their number, have
    nearly the shares of all targets: the i-th of n cases of one target is at (i - 1/2) / n.
    """
    ordered = sorted(
        cases, key=lambda case: (stable_fraction("choose", seed, case.case_id), case.case_id)
    )
    sizes, earlier_counts = Counter(case.target for case in cases), Counter[str]()
    positions: list[float] = []
    for case in ordered:
        positions.append((earlier_counts[case.target] + 0.5) / sizes[case.target])
        earlier_counts[case.target] += 1
    spread_cases = [
        ordered[number] for number in sorted(range(len(ordered)), key=positions.__getitem__)
    ]
    return spread_cases if count is None else spread_cases[:count]


def stratified_splits(targets: Mapping[str, str], seed: int) -> dict[str, SplitName]:
    """Assign three fifths of case ids to train, a fifth each to validation and test, by target.

    `targets` are by case id.
    """
    splits: dict[str, SplitName] = {}
    for target in sorted(set(targets.values())):
        members = [case_id for case_id, label in targets.items() if label == target]
        members.sort(key=lambda case_id: (stable_fraction("split", seed, case_id), case_id))
        train_end = round(len(members) * _TRAIN_SHARE)
        validation_end = round(len(members) * (_TRAIN_SHARE + _VALIDATION_SHARE))
        for position, case_id in enumerate(members):
            splits[case_id] = (
                "train"
                if position < train_end
                else "validation"
                if position < validation_end
                else "test"
            )
    return splits


def positive_of_two(task: Task) -> str:
    """Return the positive label of a task with two labels, or "" for any other task."""
    negative_labels = set(task.labels) - {task.positive}
    return task.positive if len(negative_labels) == 1 and not task.multilabel else ""


WITHOUT_TEXT = (
    "(The text of this case does not ship with moot; choose source 'download' to fetch it.)"
)
"""The text of a case whose words moot does not ship."""

MAJORITY_CLASS, BASE_RATE_COIN = "majority-class", "base-rate-coin"
