"""A user's table in the first configuration: the guesses about its columns, with their reasons."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from moot.commands.doctor_cases import find_row_faults
from moot.core.config import InitConfig
from moot.core.yaml_text import load_yaml
from moot.datasets.reading.checks import DataFaults, check_header
from moot.datasets.reading.profile import TableProfile, profile_table
from moot.datasets.reading.tables import read_table
from moot.datasets.table_options import TableOptions

QUESTION = "Which label is right?"
_TABLE = """\
datasets:
  {name}:
    loader: table
    path: {path}
{id_line}    text: {text}            # the text that models read
    target: {target}        # the true label
    labels: {labels}      # the label of each value
{positive_line}    question: {question}      # the question that a prediction answers
"""
_POSITIVE = """\
    positive: {positive}     # whose precision, recall and F1 are counted
"""


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table in the new file.

    Attributes:
        section: the section `datasets`.
        row_count: the number of rows with text and label.
        notes: lines on the guesses, their reasons, and the checks to make.
        labels: in the order in which debaters argue for them: of two the positive one first, of
            more the most frequent one.
    """

    section: str
    row_count: int
    notes: Sequence[str]
    labels: Sequence[str] = ()


def describe_table(
    config: InitConfig, path: Path, name: str, question: str, find: Callable[[str, str], str]
) -> TableEntry:
    """Return a table's entry; its columns are the ones that `init` names, or guesses.

    Args:
        config: the given answers.
        path: of the table.
        name: of the data set.
        question: that the labels answer.
        find: returns the value of a key of `init`, which has a default.
    """
    table = read_table(path, faults=DataFaults())  # `find_row_faults` lists them below
    guess = profile_table(table, text=config.text, target=config.target)
    is_named = bool(config.target) or guess.is_target_named
    target = guess.target if is_named else find("target", guess.target)
    profile = profile_table(table, text=config.text, target=target)
    check_header(path, list(map(str, table)), [profile.text, profile.target])
    labels = _order_labels(profile)
    positive = labels[0] if len(labels) == 2 else ""
    section = _TABLE.format(
        name=name,
        path=inline_yaml(os.fspath(path)),
        id_line=f"    id: {inline_yaml(profile.id)}\n" if profile.id else "",
        text=inline_yaml(profile.text),
        target=inline_yaml(profile.target),
        labels=inline_yaml(profile.labels),
        positive_line=_POSITIVE.format(positive=inline_yaml(positive)) if positive else "",
        question=inline_yaml(question),
    )
    chosen = {
        "id": profile.id or "the row's number",
        "text": profile.text,
        "target": profile.target,
        "labels": _count_labels(profile),
        **({"positive": f"{positive} (a guess: the last by alphabet)"} if positive else {}),
        "question": question,
    }
    if not is_named and target == guess.target:
        chosen["target"] += " (a guess: the last column of few values)"
    notes = ["", f"From {path} ({len(table)} rows) init chose:"]
    notes += [f"  {f'{key}:':<10}{value}" for key, value in chosen.items()]
    notes.append(
        f"If a choice is wrong, correct it in {config.file} below `datasets`. Or delete the file"
        " and state the choice: --config 'init={..., target: COLUMN}'."
    )
    options = TableOptions.model_validate(load_yaml(section)["datasets"][name])
    faults = find_row_faults(options)
    if faults:
        notes += ["", "Check these rows of the table before a run:"]
        notes += [f"  {fault}" for fault in faults]
    is_complete = (table[[profile.text, profile.target]] != "").all(axis="columns")
    return TableEntry(section, int(is_complete.sum()), notes, labels)


def _order_labels(profile: TableProfile) -> list[str]:
    counts = profile.table[profile.target].str.strip().map(profile.labels).value_counts()
    names = sorted(set(profile.labels.values()), reverse=True)
    return names if len(names) == 2 else list(counts.index)


def _count_labels(profile: TableProfile) -> str:
    counts = profile.table[profile.target].str.strip().value_counts()
    return ", ".join(f"{word} {counts[word]}" for word in profile.labels)


def inline_yaml(value: object) -> str:
    """Return a value as YAML on one line.

    It is JSON, which is YAML and quotes words such as no.
    """
    return json.dumps(value, ensure_ascii=False)
