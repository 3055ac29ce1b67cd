"""What a case is: a text to argue about, the label that history gave it, and the task that it
belongs to.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

SplitName = Literal["train", "validation", "test"]
Cluster = str | tuple[str, ...]
"""A name; or one of each kind, where cases belong to clusters of several kinds at once."""

NEAR_DUPLICATE_OF, SAME_LAWSUIT_AS = "near_duplicate_of", "same_lawsuit_as"
"""Attributes of a training or validation case that would leak a test case: that case's id."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case. `text` is all that a model may see; `target` and `attributes` are for scoring
    alone.

    Attributes:
        case_id: unique within the data set, stable across runs.
        split: train, validation or test; only test cases are evaluated.
        text: the facts, as shown to models.
        target: the true label (short lower-case words); several labels are sorted and joined by
            ";".
        labels: every label that a prediction may take.
        attributes: what scoring may group by (sex, court, topic, ...), as strings.
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
    """A data set's own short description, from which every protocol takes its words.

    Attributes:
        noun: what a case is called ("the defendant", "the claim").
        question: the question that a prediction answers, one sentence.
        labels: every label; for two labels the negative one first.
        positive: the label that binary scores call positive ("" where there is none).
        meaning: what each label says, a clause that completes "that ..." ("the defendant will be
            rearrested").
        background: one or two sentences of context for every prompt ("" for none).
        roles: seat name to how that seat is called on this data ("prosecutor" -> "plaintiff's
            counsel").
        language: the language of texts and prompts ("en", "zh").
        multilabel: whether a target may hold several labels, joined by ";".
        notes: what a reader must know of the data, shown under every table (for example
            "synthetic").
        cluster: the attribute that cases with a common source share (a motion, a topic); intervals
            draw whole clusters. "" where each case is its own; several where cases share one thing
            with some and another with others (a story, a judge).
        exchanged: the feature that is exchanged in the test cases of counterfactual people; ""
            elsewhere.
        exchanged_from: a digest of the test cases as they were before.
        groups: the attributes that say to which groups the people of cases belong; error rates are
            compared by them.
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
    """What a case is drawn together with: the value of the task's `cluster`, a tuple of several; or
    the case alone.
    """
    cluster_values = tuple(case.attributes[name] for name in cluster_attributes(task.cluster)) or (
        case.case_id,
    )
    return cluster_values if len(cluster_values) > 1 else cluster_values[0]


def resembles_test_case(case: Case) -> bool:
    """Return whether a training or validation case is marked as resembling a test case, so that
    nothing may learn from it.
    """
    has_mark = any(case.attributes.get(mark) for mark in (NEAR_DUPLICATE_OF, SAME_LAWSUIT_AS))
    return has_mark and case.split != "test"


def stable_fraction(*parts: object) -> float:
    """Return a number in [0, 1) that depends on `parts` alone: the same on every machine and in
    every run.
    """
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def shard_number(case_id: str, shards: int) -> int:
    """Return the shard that a case belongs to, by its id alone, so that adding cases moves none."""
    return int(stable_fraction("shard", case_id) * shards)


def open_cases(cases: Sequence[Case], split_name: str) -> list[Case]:
    """Return the cases of a split, without those of training and validation that resemble a test
    case.
    """
    return [case for case in cases if case.split == split_name and not resembles_test_case(case)]


def choose_cases(cases: Sequence[Case], count: int | None, seed: int) -> list[Case]:
    """Return the `count` cases that a seed picks (None: all), in a stable order; a larger count
    keeps the smaller's cases.

    The order spreads each target evenly over the whole, so that any number of first cases has
    nearly the targets' shares: the i-th of n cases of one target is at (i - 1/2) / n.
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


def stratified_splits(
    targets: Mapping[str, str], seed: int, shares: tuple[float, float, float] = (0.6, 0.2, 0.2)
) -> dict[str, SplitName]:
    """Case ids to train, validation and test by `shares`, with each target's share kept;
    `targets` are by case id.
    """
    splits: dict[str, SplitName] = {}
    for target in sorted(set(targets.values())):
        members = [case_id for case_id, label in targets.items() if label == target]
        members.sort(key=lambda case_id: (stable_fraction("split", seed, case_id), case_id))
        train_end = round(len(members) * shares[0])
        validation_end = round(len(members) * (shares[0] + shares[1]))
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
    """Return the positive label of a task with two labels, "" for any other task."""
    negative_labels = set(task.labels) - {task.positive}
    return task.positive if len(negative_labels) == 1 and not task.multilabel else ""


WITHOUT_TEXT = (
    "(The text of this case does not ship with moot; choose source 'download' to fetch it.)"
)
"""Stands in place of the text of a case whose words do not ship."""

MAJORITY_CLASS, BASE_RATE_COIN = "majority-class", "base-rate-coin"
REFERENCE_MODELS = (MAJORITY_CLASS, BASE_RATE_COIN)
