"""A user's table in the first configuration: the guesses about its columns, with their reasons."""

import json
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from moot.commands.doctor_cases import TARGET_NAMES, describe_label_faults
from moot.datasets.reading.tables import read_table
from moot.datasets.table_options import ALL, SPLITS

_MIN_LABELS, _MAX_LABELS = 2, 10
_MAX_LISTED_COLUMNS = 8
_MAX_ID_LENGTH = 60
_GIVEN = "as given"
"""The reason for a value that the user gave instead of the guess."""
_QUESTION = "Which label is right?"
_QUESTION_REASON = "the default; write the question of your cases, in one sentence"
_ID_NAMES = re.compile(
    r"(?:^|[\W_])(?:id|nr|no|num|number|key|ref|code|docket)$|^id[\W_]", re.IGNORECASE
)
_ID_REASON = "a column with the name of an id and a different value in each row"
_NO_ID_REASON = "no column has an id for each row, so the number of the row is the id"
_SPLIT_NAMES = re.compile("split|fold|subset|partition", re.IGNORECASE)
_TABLE = """\
datasets:
  {name}:
    loader: table
    path: {path}
{id_line}    text: {text}            # the text that models read
    target: {target}        # the true label
    # Rows by label; correct misspelt labels: {counts}
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
    """

    section: str
    row_count: int
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Guess:
    """What `init` writes for a key of a table.

    Attributes:
        key: the key.
        value: the printed value.
        reason: the reason, and the other candidates.
    """

    key: str
    value: str
    reason: str


def describe_table(path: Path, name: str, answer: Callable[..., str], new_file: str) -> TableEntry:
    """Return a table's entry; `answer` returns the user's answer about it, or a default.

    `name` is the name of the data set, and `new_file` the configuration that gets the entry.
    """
    table = read_table(path, [])
    longest = str(table.apply(lambda column: column.str.len().mean()).idxmax())
    text = answer("text", longest)
    guessed_target, target_reason = _guess_target(table, text)
    target = answer("target", guessed_target)
    rows = read_table(path, [text, target]).apply(lambda column: column.str.strip())
    complete_rows = rows[(rows != "").all(axis=1)]
    labels = {cell: cell.casefold() for cell in sorted(set(complete_rows[target]))}
    counts = {cell: int((complete_rows[target] == cell).sum()) for cell in labels}
    question = answer("question", _QUESTION)
    id_column = _guess_id(table, {text, target})
    section = _TABLE.format(
        name=name,
        path=inline_yaml(os.fspath(path)),
        id_line=f"    id: {inline_yaml(id_column)}\n" if id_column else "",
        text=inline_yaml(text),
        target=inline_yaml(target),
        labels=inline_yaml(labels),
        counts=inline_yaml(counts),
        question=inline_yaml(question),
    )
    id_guess = _Guess("id", id_column or "row", _ID_REASON if id_column else _NO_ID_REASON)
    text_reason = f"the column with the longest cells; others: {_list_columns(table, text)}"
    guesses = [
        id_guess,
        _Guess("text", text, text_reason if text == longest else _GIVEN),
        _Guess("target", target, target_reason if target == guessed_target else _GIVEN),
        _guess_of_labels(counts, labels),
        _Guess("question", question, _QUESTION_REASON if question == _QUESTION else _GIVEN),
        _guess_of_split(table),
    ]
    notes = [
        "",
        f"From {path} ({len(table)} rows) init chose:",
        *(f"  {guess.key + ':':<10}{guess.value}  ({guess.reason})" for guess in guesses),
        f"If a choice is wrong, correct it in {new_file} below `datasets`. Or delete the file and"
        " state the choice: --config 'init={..., target: COLUMN}'.",
        *_describe_faults(path, target, rows[target]),
    ]
    return TableEntry(section, len(complete_rows), notes)


def _describe_faults(path: Path, target: str, cells: "pd.Series[str]") -> list[str]:
    """Return lines on labels that may be misspelt; none without such labels."""
    faults = describe_label_faults(path, target, cells)
    if not faults:
        return []
    return [
        "",
        "Check these rows of the table before a run; remove misspelt labels from `labels` too:",
        *(f"  {fault}" for fault in faults),
    ]


def _guess_target(table: pd.DataFrame, text: str) -> tuple[str, str]:
    """Return the column of labels, and the reason; "" if there is none.

    It is a column with a name such as outcome, or else the last column with few values.
    """
    candidates = []
    for name in map(str, table.columns):
        cells = table[name].str.strip()
        if name != text and _MIN_LABELS <= cells[cells != ""].nunique() <= _MAX_LABELS:
            candidates.append(name)
    if not candidates:
        return "", ""
    answer_columns = [name for name in candidates if TARGET_NAMES.search(name)]
    choice = (answer_columns or candidates[-1:])[0]
    reason = (
        "its name says that it is the answer" if answer_columns else "the last column of few values"
    )
    further_columns = [name for name in candidates if name != choice]
    if further_columns:
        reason += f"; others of few values: {', '.join(further_columns)}"
    return choice, reason


def _guess_id(table: pd.DataFrame, taken_columns: Collection[str]) -> str:
    """Return the first column with a name such as id or number and a different value in each row.

    "" if there is none; the number of the row is then the id of a case.
    """
    for name in map(str, table.columns):
        ids = table[name].str.strip()
        is_id = bool(_ID_NAMES.search(name)) and name not in taken_columns
        if is_id and ids.is_unique and (ids != "").all() and ids.str.len().max() <= _MAX_ID_LENGTH:
            return name
    return ""


def _list_columns(table: pd.DataFrame, text: str) -> str:
    """Return the names of the other columns of a table."""
    names = [str(name) for name in table.columns if str(name) != text]
    rest = len(names) - _MAX_LISTED_COLUMNS
    return ", ".join(names[:_MAX_LISTED_COLUMNS]) + (f" and {rest} more" if rest > 0 else "")


def _guess_of_labels(counts: Mapping[str, int], labels: Mapping[str, str]) -> _Guess:
    value = ", ".join(f"{cell} {count}" for cell, count in counts.items())
    names = list(dict.fromkeys(labels.values()))
    reason = "the values of `target`"
    if len(names) == _MIN_LABELS:
        reason += f"; scores call the second one, {names[1]}, positive: swap the two if it is not"
    return _Guess("labels", value, reason)


def _guess_of_split(table: pd.DataFrame) -> _Guess:
    """Return that all rows are test cases, with the column that says otherwise, if there is one."""
    reason = "each row is a test case, as nothing is trained"
    for name in map(str, table.columns):
        if _SPLIT_NAMES.search(name) and set(table[name].str.strip().str.casefold()) <= set(SPLITS):
            reason += f"; `split: {name}` takes the test rows of this column alone"
    return _Guess("split", ALL, reason)


def inline_yaml(value: object) -> str:
    """Return a value as YAML on one line.

    It is JSON, which is YAML and quotes words such as no.
    """
    return json.dumps(value, ensure_ascii=False)
