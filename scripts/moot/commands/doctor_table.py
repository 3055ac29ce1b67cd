"""`snakemake doctor --config doctor={table: FILE}`: describes a table before it is configured."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd
import yaml
from pydantic import ValidationError

from moot.core.config_errors import validation_message
from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.core.types import JsonObject
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.label_words import spell_labels
from moot.datasets.reading.profile import TableProfile, profile_table
from moot.datasets.reading.tables import read_table
from moot.datasets.turn_columns import TranscriptsOptions, TurnColumns
from moot.llm.endpoints.embedded import PACKAGED

NAME = "mine"
_MEANINGS = set(TurnColumns.model_fields) - {"repeat", "attributes"}
_BENEFITS = {
    ("text",): "the reader's search, exports, labels, and other judges (`rejudge`)",
    (
        "answer",
        "answers",
        "belief",
    ): "predictions, changes of answers and agreement; or a model judges (`rejudge`)",
    ("truth",): "accuracy, and who changes to right and to wrong",
}
"""The benefits of columns: each for several meanings, of which one suffices."""
_MAX_CASES, _BINARY = 10, 2


def describe_table(path: Path) -> str:
    """Describe a table: its columns, what may be wrong, and an entry for the configuration.

    Raises:
        UserError: the file does not exist, or is not a table.
    """
    file = TranscriptsOptions(path=path).files[0]
    table = read_table(file)
    columns = _find_turn_columns(table)
    if "debate" not in columns:
        return _describe_cases(profile_table(file, table))
    labels = _list_labels(table, columns)
    options: JsonObject = {
        "loader": "transcripts",
        "path": str(path),
        "columns": {"speaker": "", "text": "", **columns},
        "labels": labels,
        **_positive(labels),
    }
    meanings = {column: meaning for meaning, column in columns.items()}
    lines = [*_list_columns(file, table, meanings), "", *_try_options(options, columns)]
    experiment = {
        "source": "recorded",
        "dataset": NAME,
        "models": ["people"],
        "params": {"method": "debate"},
    }
    models = {"people": {"endpoint": "recorded", "model": "recorded"}}
    return _with_entry(lines, options, experiment, models)


def _find_turn_columns(table: pd.DataFrame) -> dict[str, str]:
    """Return the columns that are named like an option of `columns`, in any case of letters.

    Another name says nothing sure: a column of minutes was taken for the number of the debate.
    """
    columns: dict[str, str] = {}
    for name in map(str, table):
        meaning = name.strip().casefold()
        is_filled = bool((table[name].str.strip() != "").any())
        if meaning in _MEANINGS and is_filled:
            columns.setdefault(meaning, name)
    return columns


def _describe_cases(profile: TableProfile) -> str:
    """Describe a table of cases, and the entry to paste."""
    meanings = {profile.text: "text", profile.target: "target", profile.id: "id"}
    lines = [
        *_list_columns(profile.path, profile.table, meanings),
        "",
        "No column is named `debate`, so this is taken for a table of cases to argue. For recorded"
        " debates or answers name the columns in `loader: transcripts`.",
        *profile.faults,
    ]
    if not profile.target:
        lines.append("Not found: a column with the true label (few different values). Add it.")
        return "\n".join(lines) + "\n"
    options: JsonObject = {
        "loader": "table",
        "path": str(profile.path),
        **({"id": profile.id} if profile.id else {}),
        "text": profile.text,
        "target": profile.target,
        "labels": profile.labels,
        **_positive(profile.labels),
    }
    experiment = {
        "protocol": "panel",
        "dataset": NAME,
        "models": [PACKAGED],
        "cases": min(len(profile.table), _MAX_CASES),
    }
    return _with_entry(lines, options, experiment, {})


def _positive(labels: Mapping[str, str]) -> JsonObject:
    names = list(dict.fromkeys(labels.values()))
    return {"positive": names[1]} if len(names) == _BINARY else {}


def _with_entry(
    lines: list[str], options: JsonObject, experiment: JsonObject, models: JsonObject
) -> str:
    entry: JsonObject = {"run": [NAME], "datasets": {NAME: options}}
    entry |= {"models": models} if models else {}
    entry["experiments"] = {NAME: experiment}
    text = yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, default_flow_style=None)
    return "\n".join([*lines, "", "Check the guesses in this entry, and paste it:", "", text])


def _list_columns(file: Path, table: pd.DataFrame, meanings: Mapping[str, str]) -> list[str]:
    """List a table and its columns, each with its guessed meaning and an example."""
    lines = [f"{file}: {len(table)} rows, {len(table.columns)} columns", ""]
    for name in table.columns:
        example = next((cell for cell in table[name] if cell.strip()), "")
        lines.append(
            f"  {name}: {meanings.get(name, '-')} ({table[name].nunique()} different, such as"
            f" {quote_value(example)})"
        )
    return lines


def _list_labels(table: pd.DataFrame, columns: Mapping[str, str]) -> dict[str, str]:
    words: list[str] = []
    for meaning in ("answer", "truth"):
        if meaning in columns:
            words += filter(None, table[columns[meaning]].str.strip())
    return spell_labels(words) or {"no": "no", "yes": "yes"}


def _try_options(options: JsonObject, columns: Mapping[str, str]) -> Iterator[str]:
    """Yield the loader's result with the guess, and what can be computed from it."""
    loader = LOADERS["transcripts"]
    try:
        loaded: Loaded = loader.load(
            loader.options.model_validate(options), LoadContext(NAME, Path(), Path(), 0)
        )
    except (UserError, ValidationError) as fault:
        location = ("datasets", NAME), (), loader.options
        message = (
            validation_message(fault, *location) if isinstance(fault, ValidationError) else fault
        )
        yield f"With this guess the table cannot be read yet:\n{message}"
        return
    counts = ", ".join(f"{count} {finding}" for finding, count in loaded.cleaning.items())
    yield f"Read as guessed: {counts}."
    for names, benefit in _BENEFITS.items():
        if not set(names) & {*columns, *options}:
            yield f"Missing: {' or '.join(f'`{name}`' for name in names)}, which enables {benefit}."
