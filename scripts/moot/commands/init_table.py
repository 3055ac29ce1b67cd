"""A user's table in the first configuration: the guesses about its columns, with their reasons."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from moot.datasets.reading.checks import check_header
from moot.datasets.reading.profile import TableProfile, profile_table
from moot.datasets.reading.tables import read_table

_QUESTION = "Which label is right?"
_TABLE = """\
datasets:
  {name}:
    loader: table
    path: {path}
{id_line}    text: {text}            # the text that models read
    target: {target}        # the true label
    labels: {labels}      # of two labels the negative one first
    question: {question}      # the question that a prediction answers
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


def describe_table(path: Path, name: str, answer: Callable[..., str], new_file: str) -> TableEntry:
    """Return a table's entry; `answer` returns the user's answer about it, or a default.

    `name` is the name of the data set, and `new_file` the configuration that gets the entry.
    """
    table = read_table(path)
    guess = profile_table(path, table)
    text = answer("text", guess.text)
    guess = profile_table(path, table, text=text)
    profile = profile_table(path, table, text=text, target=answer("target", guess.target))
    question = answer("question", _QUESTION)
    check_header(path, list(map(str, table)), [text, profile.target])
    section = _TABLE.format(
        name=name,
        path=inline_yaml(os.fspath(path)),
        id_line=f"    id: {inline_yaml(profile.id)}\n" if profile.id else "",
        text=inline_yaml(text),
        target=inline_yaml(profile.target),
        labels=inline_yaml(profile.labels),
        question=inline_yaml(question),
    )
    chosen = {
        "id": profile.id or "the row's number",
        "text": text,
        "target": profile.target,
        "labels": _count_labels(profile),
        "question": question,
    }
    if profile.target == guess.target and not profile.is_target_named:
        chosen["target"] += " (a guess: the last column of few values)"
    notes = ["", f"From {path} ({len(table)} rows) init chose:"]
    notes += [f"  {f'{key}:':<10}{value}" for key, value in chosen.items()]
    notes.append(
        f"If a choice is wrong, correct it in {new_file} below `datasets`. Or delete the file and"
        " state the choice: --config 'init={..., target: COLUMN}'."
    )
    if profile.faults:
        notes += ["", "Check these rows of the table before a run:"]
        notes += [f"  {fault}" for fault in profile.faults]
    is_complete = (table[[text, profile.target]] != "").all(axis="columns")
    return TableEntry(section, int(is_complete.sum()), notes, _order_labels(profile))


def _order_labels(profile: TableProfile) -> list[str]:
    counts = profile.table[profile.target].str.strip().map(profile.labels).value_counts()
    names = list(dict.fromkeys(profile.labels.values()))
    return names[::-1] if len(names) == 2 else list(counts.index)


def _count_labels(profile: TableProfile) -> str:
    counts = profile.table[profile.target].str.strip().value_counts()
    return ", ".join(f"{word} {counts[word]}" for word in profile.labels)


def inline_yaml(value: object) -> str:
    """Return a value as YAML on one line.

    It is JSON, which is YAML and quotes words such as no.
    """
    return json.dumps(value, ensure_ascii=False)
