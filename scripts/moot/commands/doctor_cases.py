"""The part of `doctor` for a table of cases: labels, missing labels, and the entry to paste."""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import yaml

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.experiment_config import ExperimentConfig
from moot.core.text_files import quote_value
from moot.core.types import JsonObject
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.label_spellings import describe_doubtful_labels, list_rows
from moot.datasets.label_words import find_label
from moot.datasets.reading.tables import ENDINGS, explain_row_numbers, read_table, select_rows
from moot.datasets.table_options import TableOptions
from moot.llm.endpoints.embedded import PACKAGED
from moot.plan.plan import Plan

NAME = "mine"
TABLE_LOADER = "table"
TARGET_NAMES = re.compile(
    "label|target|truth|gold|outcome|verdict|decision|answer|class|stance|correct|result|winner"
    "|ruling|judge?ment|disposition",
    re.IGNORECASE,
)
_MAX_LABELS, _BINARY = 12, 2


def describe_cases_table(file: Path, table: pd.DataFrame, kind: str = "") -> str:
    """Describe the columns of text and label, rows without a label, and the entry to paste.

    Args:
        file: the table.
        table: its cells as text.
        kind: the format, if the file's ending does not show it.
    """
    text, target = _guess_text(table), _guess_target(table)
    meanings = {text: "text", target: "target"}
    lines = [
        *list_columns(file, table, meanings),
        "",
        "No column gives the debate of a turn, so this is a table of cases to argue. (If each "
        'row is an answer in a debate: `loader: transcripts` with `debate: ""`.)',
    ]
    if not text or not target or kind:
        lines.append(_missing_column(text, target, kind))
        return "\n".join(lines) + "\n"
    rows_by_label = group_rows(table[target])
    missing_rows = rows_by_label.pop("", [])
    labels = sorted(rows_by_label)
    lines += [_count_labels(table, target), *describe_label_faults(file, target, table[target])]
    entry = _make_entry(file, text, target, labels, len(table) - len(missing_rows))
    lines += ["", "Check the guesses in this entry, and paste it:", ""]
    return (
        "\n".join(lines)
        + "\n"
        + yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, default_flow_style=None)
    )


def _guess_text(table: pd.DataFrame) -> str:
    """Return the column with the longest texts of several words; "" if there is none."""
    lengths = {
        str(name): float(table[name].str.len().mean())
        for name in table.columns
        if table[name].str.strip().str.contains(" ").mean() > 1 / 2
    }
    return max(lengths, key=lambda name: lengths[name], default="")


def _guess_target(table: pd.DataFrame) -> str:
    """Return the column of labels.

    Its name shows this, or it is the last column with few different values.
    """
    candidates = []
    for name in map(str, table.columns):
        cells = table[name].str.strip()
        count = cells[cells != ""].nunique()
        if _BINARY <= count <= min(_MAX_LABELS, max(_BINARY, len(table) // 2)):
            candidates.append(name)
    answer_columns = [name for name in candidates if TARGET_NAMES.search(name)]
    return (answer_columns or candidates[-1:] or [""])[0]


def _missing_column(text: str, target: str, kind: str) -> str:
    if kind:
        return f"A table of cases needs a name that ends in one of {', '.join(ENDINGS)}."
    missing = [] if text else ["a column with the text of each case (words, not one word)"]
    if not target:
        missing.append(f"a column with the true label (2 to {_MAX_LABELS} different values)")
    return f"Not found: {' and '.join(missing)}. Add it, or name it in `loader: table`."


def _count_labels(table: pd.DataFrame, target: str) -> str:
    cells = table[target].str.strip()
    counts = cells[cells != ""].value_counts()
    parts = [f"{label} {count}" for label, count in counts.items()]
    return f"Labels in column {quote_value(target)}: {', '.join(parts)}."


def group_rows(cells: "pd.Series[str]") -> dict[str, list[int]]:
    """Return each value of a column with the numbers of its rows; "" for blank cells."""
    rows_by_value: dict[str, list[int]] = {}
    for row, cell in cells.items():
        rows_by_value.setdefault(cell.strip(), []).append(int(str(row)))
    return rows_by_value


def describe_label_faults(file: Path, target: str, cells: "pd.Series[str]") -> list[str]:
    """Return a sentence for each fault in a column of labels: blank cells, labels that may be
    misspelt, and how the rows are counted; none without faults.
    """
    rows_by_label = group_rows(cells)
    missing_rows = rows_by_label.pop("", [])
    sentences: list[str] = []
    if missing_rows:
        count = len(missing_rows)
        sentences.append(
            f"{count} row{'s' * (count != 1)} without a label in column {quote_value(target)}:"
            f" {list_rows(missing_rows)}. Correct {'the row' if count == 1 else 'these rows'}: fill"
            " in the label, or remove the row, which cannot be a case."
        )
    column = f"Column {quote_value(target)}"
    sentences += [f"{column}: {message}." for message in describe_doubtful_labels(rows_by_label)]
    if sentences and explain_row_numbers(file):
        sentences.append(explain_row_numbers(file))
    return sentences


def _make_entry(
    file: Path, text: str, target: str, labels: list[str], case_count: int
) -> JsonObject:
    """Return the entry for a table: data, one experiment, and `run`."""
    names = {label: label.casefold() for label in labels}
    distinct = list(dict.fromkeys(names.values()))
    options: JsonObject = {
        "loader": TABLE_LOADER,
        "path": str(file),
        "text": text,
        "target": target,
        "labels": names,
        **({"positive": distinct[1]} if len(distinct) == _BINARY else {}),
        "question": f"Which is right, {' or '.join(distinct)}?",
    }
    experiment = {
        "protocol": "panel",
        "dataset": NAME,
        "models": [PACKAGED],
        "cases": min(case_count, 10),
    }
    return {"run": [NAME], "datasets": {NAME: options}, "experiments": {NAME: experiment}}


def list_columns(file: Path, table: pd.DataFrame, meanings: Mapping[str, str]) -> list[str]:
    """List a table and its columns, each with its guessed meaning and an example."""
    lines = [f"{file}: {len(table)} rows, {len(table.columns)} columns", ""]
    for name in table.columns:
        example = next((cell for cell in table[name] if cell.strip()), "")
        lines.append(
            f"  {name}: {meanings.get(name, '-')} ({table[name].nunique()} different, such as"
            f" {quote_value(example)})"
        )
    return lines


# A configured table


def load_table(plan: Plan, dataset: str) -> Loaded | None:
    """Load a configured table of the user; return None for any other data set.

    Raises:
        UserError: rows are faulty; the message names them.
    """
    options = plan.datasets[dataset]
    if options.loader != TABLE_LOADER:
        return None
    return LOADERS[TABLE_LOADER].load(
        options, LoadContext(dataset, Path(), Path(), plan.config.seed)
    )


def describe_table_labels(options: TableOptions) -> list[str]:
    """Return a sentence for each label of a configured table that may be misspelt, with the numbers
    of its rows; none if the table cannot be read.
    """
    try:
        columns = [options.target, *options.where]
        table = read_table(options.path, columns, sheet=options.sheet, faults=Faults())
        cells = select_rows(options.path, table, options.where)[options.target]
    except UserError:  # loading it gives the message, unless a second file has the labels
        return []
    labels = options.labels or {cell.strip(): cell.strip().casefold() for cell in cells}
    rows_by_label: dict[str, list[int]] = {}
    for value, rows in group_rows(cells).items():
        label = find_label(value, labels)
        if value and label:
            rows_by_label.setdefault(label, []).extend(rows)
    sentences = describe_doubtful_labels(
        {label: sorted(rows) for label, rows in rows_by_label.items()}
    )
    unused_labels = [
        label for label in dict.fromkeys(labels.values()) if label not in rows_by_label
    ]
    if unused_labels:
        sentences.append(
            f"no row has the label {' or '.join(map(quote_value, unused_labels))}. Remove it from"
            " `labels`, unless models may answer it"
        )
    return [f"column {quote_value(options.target)}: {sentence}" for sentence in sentences]


def describe_case_counts(config: ExperimentConfig, loaded: Loaded) -> tuple[bool, str]:
    """Return whether a table has as many cases as an experiment requires, with the numbers in
    words.
    """
    available = sum(case.split == config.split for case in loaded.cases)
    required_count = config.cases
    if required_count is None or required_count <= available:
        count = available if required_count is None else required_count
        return (
            True,
            f"{count} of {available} {config.split} cases; `cases` can be {available} at most",
        )
    return False, (
        f"`cases: {required_count}`, but the table has {available} {config.split} cases. Write"
        f" `cases: {available}` or less, or leave `cases` out for all"
    )
