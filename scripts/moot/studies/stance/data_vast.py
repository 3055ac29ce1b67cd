"""VAST (varied stance topics): posts, topics, and the stance of each post on its topic.

The source is Allaway and McKeown (2020). Of the official files only the columns in `COLUMNS` are
read. Labels: 0 con, 1 pro, 2 neutral.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import Field

from moot.core.cases import NEAR_DUPLICATE_OF, Case, SplitName, Task
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset
from moot.datasets.near_duplicates import (
    RESEMBLING,
    count_pairs,
    find_near_duplicates,
    find_resembled_tests,
)
from moot.datasets.reading.checks import check_unique, check_values, run_checks
from moot.datasets.reading.delimited import read_csv
from moot.datasets.topics import check_texts, source_folder, source_notes, topic_and_text

COLUMNS = ("new_id", "post", "new_topic", "topic_str", "label", "type_idx", "seen?")
SYNTHETIC = "4"
"""The type of a neutral row that pairs a post with the topic of another one, in `topic_str`."""
SHOWN_LABELLED = "synthetic neutral rows, shown with the topic of their label"
FILES: dict[str, SplitName] = {
    "vast_train.csv": "train",
    "vast_dev.csv": "validation",
    "vast_test.csv": "test",
}
LABELS = {"0": "con", "1": "pro", "2": "neutral"}
DOWNLOAD = "set the data set's source to download, or put the official file there."

PAPER_POSTS = 676


class VastOptions(DatasetOptions):
    """Options of the data set `vast`."""

    subset: Literal["all", "zero_shot", "few_shot", "first_of_post"] = Field(
        "all",
        description=(
            "of the test split: all rows, topics unseen in training, topics seen in training, or"
            " the first row of each post (the nearest to the decision conference paper's test set)"
        ),
    )


TASK = Task(
    noun="the post",
    question="Which stance does the author of the post take on the topic?",
    labels=("con", "neutral", "pro"),
    meaning={
        "con": "the author is against the topic",
        "neutral": "the author takes neither side on the topic, or the post is not about it",
        "pro": "the author is in favour of the topic",
    },
    background=(
        "Each post comes from a public online discussion and is shown without what it replied to."
    ),
    cluster="topic",
)


@dataset("vast", VastOptions, shipped=("data/samples/vast",))
def load(options: VastOptions, context: LoadContext) -> Loaded:
    """Load the three official files as cases; validation is the official development set.

    Attributes of a case: `topic` (the official lemmatised `topic_str`) and `seen` (yes or no: the
    topic occurs in the official training set).

    Raises:
        UserError: a file or column is missing, a label is unknown, a post is empty, an id occurs
            twice, or a topic is too long.
    """
    folder = source_folder(options.source, context) / "vast"
    cases: list[Case] = []
    posts: dict[tuple[SplitName, str], list[str]] = {}
    cleaning: dict[str, int] = {}
    notes: tuple[str, ...] = ()
    for name, data_split in FILES.items():
        rows = read_posts(folder / name, cleaning)
        cleaning[f"{data_split} rows"] = len(rows)
        if data_split == "test" and options.subset != "all":
            rows = select_subset(rows, options)
            cleaning[f"test rows kept ({options.subset})"] = len(rows)
            notes = subset_notes(rows, options)
        for row in rows.reset_index().to_dict("records"):
            cases.append(_case(row, data_split, context.name))
            posts.setdefault((data_split, row["post"]), []).append(cases[-1].case_id)
    task = replace(TASK, notes=(*source_notes(options.source), *notes))
    return Loaded(
        _mark_near_duplicates(cases, posts, cleaning),
        task,
        cleaning=cleaning,
        sources=[folder / name for name in FILES],
    )


def _mark_near_duplicates(
    cases: Sequence[Case],
    posts: Mapping[tuple[SplitName, str], Sequence[str]],
    cleaning: dict[str, int],
) -> list[Case]:
    """Mark the cases whose post is a near-duplicate of a post of the test split.

    Each post is compared once.
    """
    pairs = find_near_duplicates({ids[0]: post for (_, post), ids in posts.items()})
    splits = {ids[0]: data_split for (data_split, _), ids in posts.items()}
    copies = find_resembled_tests(splits, pairs)
    similar_test: dict[str, str] = {}
    for ids in posts.values():
        if ids[0] in copies:
            similar_test |= dict.fromkeys(ids, copies[ids[0]])
    cleaning |= {
        **count_pairs("pairs of near-duplicate posts", splits, pairs),
        RESEMBLING: len(similar_test),
    }
    marks = {case_id: {NEAR_DUPLICATE_OF: test} for case_id, test in similar_test.items()}
    return [
        replace(case, attributes={**case.attributes, **marks.get(case.case_id, {})})
        for case in cases
    ]


def read_posts(path: Path, cleaning: dict[str, int]) -> pd.DataFrame:
    """Read and check one official file; count the rows that show another topic.

    Returns:
        The columns row_id, post, topic, topic_str, label (a word), seen ("0" or "1").
    """
    frame = read_csv(path, COLUMNS, get=DOWNLOAD)
    run_checks(
        partial(check_unique, path, frame["new_id"]),
        partial(check_values, path, frame["label"], tuple(LABELS)),
        partial(check_values, path, frame["seen?"], ("0", "1")),
        partial(check_texts, path, frame["post"]),
        partial(check_texts, path, frame["new_topic"], topic=True),
    )
    # The official files have another column `topic`, which is not the topic of the label; and in
    # synthetic neutral rows `new_topic` is the topic of the post, which the label is not about.
    frame = frame[list(COLUMNS)].rename(
        columns={"new_id": "row_id", "new_topic": "topic", "seen?": "seen"}
    )
    is_synthetic = (frame["type_idx"] == SYNTHETIC) & (frame["topic"] != frame["topic_str"])
    if is_synthetic.any():
        cleaning[SHOWN_LABELLED] = cleaning.get(SHOWN_LABELLED, 0) + int(is_synthetic.sum())
    topics = frame["topic"].mask(is_synthetic, frame["topic_str"])
    return frame.assign(label=frame["label"].map(LABELS), topic=topics)


def select_subset(rows: pd.DataFrame, options: VastOptions) -> pd.DataFrame:
    """Return the rows of a subset, in file order."""
    if options.subset == "first_of_post":
        return rows.drop_duplicates("post").head(PAPER_POSTS)
    return rows[rows["seen"] == ("0" if options.subset == "zero_shot" else "1")]


def subset_notes(rows: pd.DataFrame, options: VastOptions) -> tuple[str, ...]:
    """Return the notes on a subset of the test rows."""
    counts = ", ".join(
        f"{label} {count}" for label, count in rows["label"].value_counts().sort_index().items()
    )
    if options.subset != "first_of_post" or options.source == "sample":
        return (f"the {options.subset} rows of the test file ({counts})",)
    return (
        (
            f"the first row of each of the first {len(rows)} posts of the test file ({counts}); no"
            " subset of that file has the counts that the paper reports, and this one comes nearest"
        ),
    )


def _case(row: Mapping[Hashable, Any], data_split: SplitName, name: str) -> Case:
    case_id = f"{name}-{data_split}-{row['row_id']}"
    text = topic_and_text(row["topic"], "Post", row["post"])
    attributes = {"topic": row["topic_str"], "seen": "yes" if row["seen"] == "1" else "no"}
    return Case(case_id, name, data_split, text, row["label"], TASK.labels, attributes, row["row"])
