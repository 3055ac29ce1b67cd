"""What `doctor` says of a table of cases: its labels, rows without one, and the entry to paste."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd
import yaml

from moot.core.experiment_config import ExperimentConfig
from moot.core.text_files import quote_value
from moot.core.types import JsonObject
from moot.core.user_tables import ENDINGS
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.llm.endpoints.embedded import PACKAGED
from moot.plan.plan import Plan

NAME = "mine"
TABLE_LOADER = "table"
TARGET_NAMES = re.compile(
    "label|target|truth|gold|outcome|verdict|decision|answer|class|stance|correct|result",
    re.IGNORECASE,
)
_MAX_LABELS, _MAX_LISTED_ROWS, _BINARY = 12, 20, 2


def describe_cases_table(file: Path, table: pd.DataFrame, kind: str = "") -> str:
    """Return which columns hold text and label, rows without a label, and the entry to paste.

    Args:
        file: the table.
        table: its cells as text.
        kind: the format, where the file's ending does not say it.
    """
    text, target = _guess_text(table), _guess_target(table)
    meanings = {text: "text", target: "target"}
    lines = [
        *list_columns(file, table, meanings),
        "",
        "No column says which debate a turn belongs to: a table of cases to argue. (Where each row"
        ' is an answer in a debate: `loader: transcripts` with `debate: ""`.)',
    ]
    if not text or not target or kind:
        lines.append(_missing_column(text, target, kind))
        return "\n".join(lines) + "\n"
    missing_rows = [row for row, cell in enumerate(table[target], start=1) if not cell.strip()]
    labels = sorted({cell.strip() for cell in table[target]} - {""})
    lines += [_count_labels(table, target), *_describe_missing_labels(target, missing_rows)]
    entry = _make_entry(file, text, target, labels, len(table) - len(missing_rows))
    lines += ["", "To paste, after a look at what is guessed:", ""]
    return (
        "\n".join(lines)
        + "\n"
        + yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, default_flow_style=None)
    )


def _guess_text(table: pd.DataFrame) -> str:
    """Return the column with the longest texts of several words; "" where there is none."""
    lengths = {
        str(name): float(table[name].str.len().mean())
        for name in table.columns
        if table[name].str.strip().str.contains(" ").mean() > 1 / 2
    }
    return max(lengths, key=lambda name: lengths[name], default="")


def _guess_target(table: pd.DataFrame) -> str:
    """Return the column of labels: one whose name says so, else the last with few different
    values.
    """
    candidates = []
    for name in map(str, table.columns):
        filled = table[name].str.strip()
        count = filled[filled != ""].nunique()
        if _BINARY <= count <= min(_MAX_LABELS, max(_BINARY, len(table) // 2)):
            candidates.append(name)
    named = [name for name in candidates if TARGET_NAMES.search(name)]
    return (named or candidates[-1:] or [""])[0]


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


def _describe_missing_labels(target: str, rows: list[int]) -> Iterator[str]:
    if rows:
        listing = ", ".join(map(str, rows[:_MAX_LISTED_ROWS]))
        more = f" and {len(rows) - _MAX_LISTED_ROWS} more" if len(rows) > _MAX_LISTED_ROWS else ""
        yield (
            f"{len(rows)} row{'s' * (len(rows) != 1)} without a label in column"
            f" {quote_value(target)}: row {listing}{more} (the first row below the heading is row"
            " 1). Fill them in, or remove these rows: they cannot be cases."
        )


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
    """Lines on a table and its columns, each with its guessed meaning and an example."""
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
    """Return a configured table of the user, loaded; None for any other data set.

    Raises:
        UserError: rows are faulty; the message names them.
    """
    options = plan.datasets[dataset]
    if options.loader != TABLE_LOADER:
        return None
    return LOADERS[TABLE_LOADER].load(
        options, LoadContext(dataset, Path(), Path(), plan.config.seed)
    )


def describe_case_counts(config: ExperimentConfig, loaded: Loaded) -> tuple[bool, str]:
    """Return whether a table has as many cases as an experiment asks for, and the numbers in
    words.
    """
    available = sum(case.split == config.split for case in loaded.cases)
    wanted = config.cases
    if wanted is None or wanted <= available:
        count = available if wanted is None else wanted
        return (
            True,
            f"{count} of {available} {config.split} cases; `cases` can be {available} at most",
        )
    return False, (
        f"`cases: {wanted}`, but the table has {available} {config.split} cases. Write `cases:"
        f" {available}` or less, or leave `cases` out for all"
    )
